"""faulted_json: a trial's plays under injected faults, with each fault at its place."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, Final

from adk_agent.present.page.items import MOST_MESSAGES, conversation_items
from adk_agent.present.page.words import MARKS, state_of
from adk_agent.results.summary import TrialRow
from adk_agent.results.tables import counted
from adk_agent.runs.store import FaultedPlay, TrialRecord
from evals.trace import ASSESSOR, CallType, InteractionStep
from tau_bridge.a2a.faulty_delivery import DROPPED
from tau_bridge.chaos.injector import InjectedFault

_Json = dict[str, Any]
_ON_THE_WAY: Final[Mapping[str, str]] = {
    "lost_reply": "The reply below was lost, so the same message was sent again.",
    "duplicate": "The message above was delivered a second time, and the reply to that was dropped.",
    "busy": "The message was turned away once and sent again: status {detail}.",
    "cut_stream": "The stream of the reply was cut off {detail}.",
    "delay": "The message came late: {detail}.",
    "other_names": "The agent met other names and ids than stand here: {detail}.",
}
"""A sentence for each fault on the way to the agent."""
_BETWEEN_MEMBERS: Final[Mapping[str, str]] = {
    "member_lost_reply": "The reply to call {place} from {detail} was lost.",
    "member_duplicate": "Call {place} from {detail} was delivered twice.",
    "member_busy": "Call {place} from {detail} was turned away once: status 503.",
    "member_delay": "Call {place} from {detail} came late.",
}
_AFTER_THE_REPLY: Final = frozenset({"duplicate"})
_OF_CALLS: Final[Mapping[str, str]] = {
    "tool_error": "injected: turned away, did not run",
    "tool_timeout": "injected: ran, and the agent was not told",
    "tool_fields": "injected: other fields in the result",
}
_REWORDED: Final = "injected: the first words were reworded by {}"


def faulted_json(record: TrialRecord, writes: Callable[[str], bool]) -> list[_Json]:
    """Return what the page shows of each play under faults; `writes` as in `packed`."""
    return [_play(each, record.row, writes) for each in record.chaos]


def _play(play: FaultedPlay, plain: TrialRow, writes: Callable[[str], bool]) -> _Json:
    result, row = play.result, play.result.row
    told = {
        "family": result.family,
        "plain": plain.reward,
        "reward": row.reward,
        "outcome": MARKS[state_of(row)].word,
        "reason": row.reason,
        "faults": counted({kind: _times(result.faults, kind) for kind in _kinds(result.faults)}),
        "repeated": result.repeated_writes,
        "blind": result.blind_writes,
    }
    if not result.faults:
        return told  # the same conversation as the plain one
    marks = {
        fault.call_id: _OF_CALLS.get(fault.kind, f"injected: {fault.kind}")
        for fault in result.faults
        if fault.call_id is not None
    }
    items = list(conversation_items(play.messages, writes, inserted=_inserted(play), marked=marks))
    for fault in result.faults:
        said = next((item for item in items if item["who"] == "user"), None)
        if fault.kind == "prompt" and said is not None:
            said["fault"] = _REWORDED.format(fault.produced_by or "rules")
    return told | {"items": items, "left_out": max(0, len(play.messages) - MOST_MESSAGES)}


def _inserted(play: FaultedPlay) -> Mapping[int, list[_Json]]:
    """Return the faults on the way as items, by the place of the message before which they stand."""
    sent = [
        step
        for step in play.trace.steps
        if step.caller == ASSESSOR and step.call_type is CallType.AGENT
    ]
    places = _places(play, sent)
    found: dict[int, list[_Json]] = defaultdict(list)
    end = min(len(play.messages), MOST_MESSAGES)
    for fault in play.result.faults:
        if fault.call_id is not None or fault.kind == "prompt":
            continue
        if fault.kind in _BETWEEN_MEMBERS:
            said = _BETWEEN_MEMBERS[fault.kind].format(place=fault.place, detail=fault.detail)
            found[end].append({"who": "fault", "text": said})
            continue
        number = fault.place - 1
        place = places.get(number, end)
        if fault.kind in _AFTER_THE_REPLY:
            place += 1
        step = sent[number] if number < len(sent) else None
        found[min(place, end)].append(_item(fault, step))
    return found


def _places(play: FaultedPlay, sent: list[InteractionStep]) -> dict[int, int]:
    """Return the place of the agent's reply to each message, by the message's number from 0.

    What stands before the first reply, a greeting or a task's history, is of nobody that was asked:
    so they are paired from the end. A message without a reply has no place.
    """
    answered = [number for number, step in enumerate(sent) if step.error is None]
    replies = [place for place, each in enumerate(play.messages) if each.get("role") == "assistant"]
    if len(answered) > len(replies):
        return {}  # a benchmark whose conversation is no list of replies
    return dict(zip(reversed(answered), reversed(replies), strict=False))


def _item(fault: InjectedFault, step: InteractionStep | None) -> _Json:
    sentence = _ON_THE_WAY.get(fault.kind, f"Injected: {fault.kind}.")
    item = {"who": "fault", "text": sentence.format(detail=fault.detail)}
    dropped = step.additional_attributes.get(DROPPED) if step is not None else None
    return item if dropped is None else item | {"dropped": dropped}


def _kinds(faults: tuple[InjectedFault, ...]) -> list[str]:
    return list(dict.fromkeys(fault.kind for fault in faults))


def _times(faults: tuple[InjectedFault, ...], kind: str) -> int:
    return sum(fault.kind == kind for fault in faults)
