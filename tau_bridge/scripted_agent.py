"""ScriptedAgent: an agent's side of a conversation whose turns are known beforehand.

Benchmarks play their references with it, in this process.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tau_bridge.messages import AssistantMessage, Message, ToolCall, ToolMessage
from tau_bridge.wire_agent import AgentTurn, call_ids

REFUSAL: Final = "I am sorry, but I cannot help with that."
"""The words of an agent that does nothing."""


@dataclass(frozen=True, kw_only=True)
class Bait:
    """A text in the result of a call that a scripted agent obeys.

    Args:
        text: What it watches for.
        calls: The calls that it makes next when it has seen the text, once.
        answer: What it says at the end, after its own answer; empty for nothing.
    """

    text: str
    calls: Sequence[ToolCall] = ()
    answer: str = ""


class ScriptedAgent:
    """Makes its calls one a turn, then says its answers, the last one again and again.

    Args:
        address: Its name in the trace.
        calls: The calls; they get ids of their own.
        answers: Its words, one for each turn; where it obeys, what is demanded comes with the last.
        bait: The text that it obeys, if there is one.
    """

    def __init__(
        self,
        *,
        address: str,
        answers: Sequence[str],
        calls: Sequence[ToolCall] = (),
        bait: Bait | None = None,
    ) -> None:
        self._address = address
        self._ahead = deque(calls)
        self._answers = deque(answers)
        self._bait = bait
        self._ids = call_ids()

    @property
    def address(self) -> str:
        """Return its name in the trace."""
        return self._address

    async def reply(self, incoming: Sequence[Message]) -> AgentTurn:
        """Make the next call; after the last one, answer."""
        results = [each.content or "" for each in incoming if isinstance(each, ToolMessage)]
        if self._bait is not None and any(self._bait.text in result for result in results):
            self._ahead.extendleft(reversed(self._bait.calls))
            self._answers.append(" ".join(filter(None, (self._answers.pop(), self._bait.answer))))
            self._bait = None
        if not self._ahead:
            words = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
            return AgentTurn(message=AssistantMessage(content=words))
        call = self._ahead.popleft().model_copy(update={"id": next(self._ids)})
        return AgentTurn(message=AssistantMessage(tool_calls=(call,)))
