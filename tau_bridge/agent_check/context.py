"""Checks that an agent keeps its conversations, and keeps them apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tau_bridge.agent_check.findings import Finding, fails, ok, quote, skipped, warning
from tau_bridge.agent_check.text_wire import is_in_form, said

if TYPE_CHECKING:
    from tau_bridge.agent_check.sending import Attempt

_BY_CONTEXT = "keep what was said by contextId; each message may begin a new task"


def check_context(
    first: Attempt, second: Attempt | None, others: Sequence[Attempt]
) -> list[Finding]:
    """Return what the second message of a conversation shows about its memory.

    Args:
        first: The first message.
        second: The second one in the same conversation, sent after all others.
        others: First messages of other conversations.
    """
    mixed = _mixed([first, *([second] if second else ())], others)
    if mixed:
        return mixed
    if second is None:
        return [skipped("a second message was not sent, because an earlier one got no reply")]
    if second.error is not None:
        return [
            fails(
                f"the second message of a conversation failed: {second.error}",
                f"answer every message with this contextId; {_BY_CONTEXT}",
            )
        ]
    return [*_ids(first, second), _memory(first, second)]


def _mixed(ours: Sequence[Attempt], others: Sequence[Attempt]) -> list[Finding]:
    pairs = [(each, other.probe) for each in ours for other in others]
    pairs += [(other, ours[0].probe) for other in others]
    return [
        fails(
            f"a reply names {probe.order_id}, which only another conversation knows",
            f"conversations run at once and must not share memory: {_BY_CONTEXT}",
        )
        for attempt, probe in pairs
        if probe.order_id in said(attempt)
    ][:1]


def _ids(first: Attempt, second: Attempt) -> list[Finding]:
    before, after = _context_id(first), _context_id(second)
    if before is None:
        return [
            warning(
                "its reply names no contextId, so no later message can be sent with it",
                "answer with the contextId of the conversation",
            )
        ]
    if before != after:
        return [
            warning(
                f"it answered {quote(before, most=40)} with the contextId {quote(after or '', most=40)}",
                "answer with the contextId that the message had",
            )
        ]
    return []


def _memory(first: Attempt, second: Attempt) -> Finding:
    if first.probe.order_id in said(second):
        return ok(f"the second reply names {first.probe.order_id}, said in the first message only")
    if is_in_form(first) and not is_in_form(second):
        return warning(
            "the first reply was a call and the second, in the same context, was not: it may have"
            " forgotten the first message",
            _BY_CONTEXT,
        )
    return ok("the second message was answered; the reply does not show what is remembered")


def _context_id(attempt: Attempt) -> str | None:
    return attempt.reply.context_id if attempt.reply is not None else None
