"""Control tools: they request an approval, look one up, or hand over to a human.

They are recognised by the words of their names, not by similarity, so that `approve_expense` or
`escalate_privileges` never counts as one.
"""

from __future__ import annotations

from typing import Literal

from purple_agent.toolbox.verbs import READ_VERBS, words_of

Control = Literal["request_approval", "get_approval", "escalate"]

_ASKING = {"request", "ask", "seek", "obtain"}
_BEGINNING = {"submit", "create", "start", "open"}
"""Verbs that request an approval only if the name says that it is a request."""
_LOOKING = READ_VERBS - {"calculate", "count", "list", "search"}
"""Verbs that return one approval, not several."""
_ABOUT_APPROVAL = {"for", "an", "the", "a", "of", "from", "request", "status", "human", "manager"}
_HANDING_OVER = {"handover", "handoff"}
_HANDING = {"transfer", "hand"}
_WHERE = {"to", "over", "off"}
_TO_WHOM = {
    *{"to", "a", "an", "the", "over", "off", "human", "humans", "agent", "agents", "person"},
    *{"supervisor", "manager", "support", "operator", "case", "request", "team", "level"},
}
_HUMAN = {"human", "humans", "person", "supervisor", "manager", "operator"}
_MISSPELT = {"aproval": "approval", "approvel": "approval", "approvals": "approval"}


def control_of(name: str) -> Control | None:
    """Return the kind of control tool that a name belongs to; None for every other tool."""
    words = [_MISSPELT.get(word, word) for word in words_of(name)]
    if not words:
        return None
    first, others = words[0], set(words[1:])
    if "approval" in others and others <= {"approval", *_ABOUT_APPROVAL}:
        if first in _ASKING or (first in _BEGINNING and "request" in others):
            return "request_approval"
        if first in _LOOKING:
            return "get_approval"
    return "escalate" if _hands_over(first, others) else None


def _hands_over(first: str, others: set[str]) -> bool:
    """Tell whether a name means that a human takes over, not that a person is moved or created."""
    if first in ("escalate", "escalation"):
        return others <= _TO_WHOM
    if first == "create":
        return "escalation" in others and others <= {"escalation", *_TO_WHOM}
    hands = first in _HANDING_OVER or (first in _HANDING and bool(others & _WHERE))
    return hands and others <= _TO_WHOM and bool(others & _HUMAN)
