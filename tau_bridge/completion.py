"""Completion: a call of a language model, injected by the program that has one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tau_bridge.messages import ToolCall

ToolSchema = Mapping[str, Any]
"""A tool in OpenAI's function format: `{"type": "function", "function": {...}}`."""
CACHED: Final = "cached"
"""Additional attribute of a step in which an answer from an earlier call was used: `true`."""
COMPLETION: Final = "completion"
"""The name of a step in which a language model is asked."""


@dataclass(frozen=True, kw_only=True)
class CompletionResult:
    """A language model's answer: text, tool calls, or both.

    Args:
        content: The text, if any.
        tool_calls: The calls, in order; the model does not know their requestor.
        total_tokens: Prompt and answer together; None where unknown.
        cost: In US dollars; None where unknown.
        model: The model that answered.
        cached: True if this is the answer of an earlier call.
    """

    content: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    total_tokens: int | None = None
    cost: float | None = None
    model: str
    cached: bool = False

    @property
    def attributes(self) -> dict[str, str]:
        """Return the attributes of this call's step, beside text, tokens and cost."""
        return {CACHED: "true"} if self.cached else {}


class Completion(Protocol):
    """Calls a language model once. Whatever it raises is the caller's to map."""

    async def __call__(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[ToolSchema] = ()
    ) -> CompletionResult:
        """Answer `messages`, which are in OpenAI's chat format."""
