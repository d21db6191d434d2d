"""Control tools: those that ask for an approval, ask what became of one, or hand over to a human.

They are found by the words of their names, not by likeness to a name, so that `approve_expense` or
`escalate_privileges` is never taken for one.
"""

from __future__ import annotations

import re
from typing import Literal

Control = Literal["request_approval", "get_approval", "escalate"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ASKING = {"request", "ask", "seek", "submit", "create", "start", "open", "obtain"}
_LOOKING = {"get", "check", "read", "fetch", "find", "show", "view", "query", "lookup"}
_ABOUT_APPROVAL = {"for", "an", "the", "a", "of", "from", "request", "status", "human", "manager"}
_HANDING_OVER = {"escalate", "escalation", "transfer", "handover", "handoff", "hand", "create"}
_TO_WHOM = {
    *{"to", "a", "an", "the", "over", "off", "human", "humans", "agent", "agents", "person"},
    *{"supervisor", "manager", "support", "operator", "case", "request", "team", "level"},
}
_HUMAN = {"human", "humans", "person", "supervisor", "manager", "operator"}
_MISSPELT = {"aproval": "approval", "approvel": "approval", "approvals": "approval"}


def control_of(name: str) -> Control | None:
    """What control tool a name belongs to; None for every other tool."""
    words = [_MISSPELT.get(word.lower(), word.lower()) for word in _WORD.findall(name)]
    if not words:
        return None
    first, others = words[0], set(words[1:])
    if "approval" in others and others <= {"approval", *_ABOUT_APPROVAL}:
        if first in _ASKING:
            return "request_approval"
        if first in _LOOKING:
            return "get_approval"
    if first in ("escalate", "escalation") and others <= _TO_WHOM:
        return "escalate"
    if first in _HANDING_OVER and others <= _TO_WHOM | {"escalation"}:
        return "escalate" if others & (_HUMAN | {"escalation"}) else None
    return None
