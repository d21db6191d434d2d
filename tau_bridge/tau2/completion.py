"""Completion: a call of a language model, handed in by whoever owns one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tau_bridge.tau2.messages import ToolCall
from tau_bridge.tau2.world import ToolSchema


@dataclass(frozen=True, kw_only=True)
class CompletionResult:
    """What a language model answered: text, tool calls, or both.

    Args:
        content: The text, if any.
        tool_calls: The calls, in order; their requestor is not the model's business.
        total_tokens: Prompt and answer together; None where unknown.
        cost: In US dollars; None where unknown.
        model: The model that answered.
    """

    content: str | None
    tool_calls: tuple[ToolCall, ...] = ()
    total_tokens: int | None = None
    cost: float | None = None
    model: str


class Completion(Protocol):
    """Calls a language model once. Whatever it raises is the caller's to map."""

    async def __call__(
        self, messages: Sequence[Mapping[str, Any]], *, tools: Sequence[ToolSchema] = ()
    ) -> CompletionResult:
        """The model's answer to `messages`, which are in OpenAI's chat format."""
        ...
