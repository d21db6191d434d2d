"""Form: replies of an agent in which no call could be read."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from evals.diagnosis.behaviour import Behaviour, Reply, short
from evals.diagnosis.model import ReplyFormat

NO_CALL = ("plain_text", "unparsable", "empty")
"""The repairs that say that a reply holds no call; the others were read as one."""
_EXAMPLE_CHARS = 300


def without_any_call(behaviour: Behaviour) -> str | None:
    """Return how an agent wrote that never sent a call, not even to speak; None where it sent one.

    Also None where nothing is known of the form of its replies, and where all are empty.
    """
    replies = behaviour.replies
    called = any(call.requestor == "assistant" for call in behaviour.calls)
    if called or not any(reply.text for reply in replies) or not all(map(_has_no_call, replies)):
        return None
    forms = Counter(map(_form, replies))
    counted = [form if len(forms) == 1 else f"{form} ({n})" for form, n in forms.items()]
    which = "every reply" if len(replies) > 1 else "the only reply"
    return f"{which} was {' or '.join(counted)}, not a JSON call; no tool was called"


def unread_call(behaviour: Behaviour, names: Iterable[str]) -> tuple[str, Reply] | None:
    """Find one of these tools with a call that could not be read, and the reply that has it."""
    for name in sorted(set(names)):
        for reply in behaviour.replies:
            if _has_no_call(reply) and _writes_call(name, reply.read):
                return name, reply
    return None


def written_call(behaviour: Behaviour, names: Iterable[str]) -> str | None:
    """Find a tool whose call the agent only wrote as text; None where there is none."""
    for name in sorted(set(names)):
        called = any(call.name == name for call in behaviour.calls)
        if not called and any(_writes_call(name, said) for said in behaviour.said_by("assistant")):
            return name
    return None


def reply_format(behaviour: Behaviour, example: Reply | None = None) -> ReplyFormat | None:
    """Return the replies without a call, and an example; None where each held one.

    Args:
        behaviour: The conversation.
        example: The reply to quote; by default the first in the form that most of them have.
    """
    lacking = [reply for reply in behaviour.replies if _has_no_call(reply)]
    if not lacking:
        return None
    shown = example or _typical(lacking)
    kinds = Counter(repair for reply in lacking for repair in reply.repairs if repair in NO_CALL)
    return ReplyFormat(
        repairs=dict(kinds),
        replies=len(behaviour.replies),
        example=short(shown.text, _EXAMPLE_CHARS),
        expected=tuple(behaviour.expected_replies),
    )


def _typical(replies: Sequence[Reply]) -> Reply:
    written = [reply for reply in replies if reply.text] or replies
    [(form, _)] = Counter(map(_form, written)).most_common(1)
    return next(reply for reply in written if _form(reply) == form)


def _has_no_call(reply: Reply) -> bool:
    return any(repair in NO_CALL for repair in reply.repairs)


def _form(reply: Reply) -> str:
    """Return in words what a reply without a call is."""
    if "unparsable" not in reply.repairs:
        return "plain text" if reply.text else "empty"
    return "JSON in an unknown form" if _is_json(reply.text) else "unparsable JSON"


def _is_json(text: str) -> bool:
    """Check whether a text is JSON, perhaps fenced or tagged."""
    start = min((at for at in map(text.find, "{[") if at >= 0), default=len(text))
    try:
        json.loads(text[start : max(map(text.rfind, "}]")) + 1])
    except (ValueError, RecursionError):
        return False
    return True


def _writes_call(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\s*\(|[\"']{re.escape(name)}[\"']", text) is not None
