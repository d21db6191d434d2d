"""ModelUsage: the tokens and the cost of the language models that a conversation called."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

USAGE_KEY = "usage"
"""Key of a reply's metadata with its usage, in the form of OpenAI and LiteLLM."""


@dataclass
class ModelUsage:
    """Adds up calls until they are taken. One call without a figure makes the sum unknown."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cost: float = 0.0
    has_tokens: bool = True
    has_cost: bool = True

    def add(self, prompt: int | None, completion: int | None, cost: float | None) -> None:
        """Add a call; None where a figure is unknown. The cost is in US dollars."""
        if prompt is None or completion is None:
            self.has_tokens = False
        else:
            self.prompt_tokens += prompt
            self.completion_tokens += completion
            self.total_tokens += prompt + completion
        if cost is None:
            self.has_cost = False
        else:
            self.cost += cost

    def take(self) -> dict[str, float]:
        """Return the known sums, zeros where nothing was called, and begin again."""
        tokens = {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.total_tokens,
        }
        cost = {"cost": round(self.cost, 9)}
        taken = {**(tokens if self.has_tokens else {}), **(cost if self.has_cost else {})}
        vars(self).update(vars(ModelUsage()))
        return taken


_usage: ContextVar[ModelUsage | None] = ContextVar("usage", default=None)


@contextlib.contextmanager
def counted_in(usage: ModelUsage) -> Iterator[None]:
    """Count the calls of the block, and of tasks begun in it, in `usage`."""
    token = _usage.set(usage)
    try:
        yield
    finally:
        _usage.reset(token)


def note_call(prompt: int | None, completion: int | None, cost: float | None) -> None:
    """Count a call where the conversation's calls are counted."""
    usage = _usage.get()
    if usage is not None:
        usage.add(prompt, completion, cost)
