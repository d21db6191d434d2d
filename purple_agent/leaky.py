"""Agents that do not keep their conversations apart, each in a way of its own.

They are for trying out what finds such agents.
"""

from __future__ import annotations

from collections import OrderedDict

from purple_agent import wire
from purple_agent.conversation import Turn

SHARED_CONTEXT = "conversation"
"""The contextId that every conversation with `leaky-context` gets."""
_MOST_CHARS = 2_000
_MOST_CONVERSATIONS = 1_000


class LeakyAgent:
    """Tells every customer the last words of another one."""

    def __init__(self) -> None:
        self._last: OrderedDict[str, str] = OrderedDict()

    def reply(self, turn: Turn) -> str:
        """Return a refusal with the last message of the latest other conversation."""
        others = [text for context, text in self._last.items() if context != turn.context_id]
        self._last.pop(turn.context_id, None)
        self._last[turn.context_id] = _words(turn)
        if len(self._last) > _MOST_CONVERSATIONS:
            self._last.popitem(last=False)
        if not others:
            return wire.respond("Hello! I am sorry, but I cannot help with that.")
        return wire.respond(f"I cannot help with that. Another customer said: {others[-1]}")


class RecitingAgent:
    """Repeats all that was said in the conversation. Clean, unless conversations share a context."""

    def __init__(self) -> None:
        self._said: OrderedDict[str, str] = OrderedDict()

    def reply(self, turn: Turn) -> str:
        """Return everything that was said under the contextId."""
        before = self._said.pop(turn.context_id, "")
        said = f"{before}\n{_words(turn)}".strip()[-_MOST_CHARS:]
        self._said[turn.context_id] = said
        if len(self._said) > _MOST_CONVERSATIONS:
            self._said.popitem(last=False)
        return wire.respond(f"You told me: {said}")


def _words(turn: Turn) -> str:
    opening = wire.read_opening(turn.text)
    return (opening.user_text if opening else turn.text)[-_MOST_CHARS:]
