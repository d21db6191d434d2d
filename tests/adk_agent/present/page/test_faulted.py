"""Plays under injected faults on the page of a run: each fault at its place, and nothing without."""

import pytest

from adk_agent.present.page import gathered
from adk_agent.present.page.conversations import packed, trial_json
from adk_agent.results.robustness import FaultedTrial
from adk_agent.runs.store import FaultedPlay
from evals.trace import ASSESSOR, Trace
from tau_bridge.a2a.faulty_delivery import DROPPED
from tau_bridge.chaos.injector import InjectedFault
from tests.adk_agent.present.page.kept_run import (
    keep_run,
    page_of,
    record,
    row,
    step,
    unpacked,
    writes,
)

pytestmark = pytest.mark.requirement("test:chaos")
AGENT = "http://a.test"
WROTE = {"id": "c1", "name": "create_task", "arguments": {"title": "A"}}
MESSAGES = (
    {
        "role": "assistant",
        "content": "Hi! How can I help you today?",
    },  # said by nobody who was asked
    {"role": "user", "content": "Please."},
    {"role": "assistant", "tool_calls": [WROTE]},
    {"role": "tool", "id": "c1", "content": "not now", "error": True},
    {"role": "assistant", "content": "Done."},
)


def fault(kind, place, **others):
    return InjectedFault(kind=kind, place=place, **others)


def played(*faults, family="network", dropped=None, errors=(), messages=MESSAGES, reward=0.0):
    """A play of two messages to the agent; the second step holds a dropped reply, if any."""
    steps = [step_of(1, error=1 in errors), step_of(2, dropped, error=2 in errors)]
    result = FaultedTrial(
        family=family,
        row=row(AGENT, "one", reward=reward),
        faults=faults,
        repeated_writes=1,
        blind_writes=0,
    )
    return FaultedPlay(
        result=result, trace=Trace(trace_id="t", steps=tuple(steps)), messages=messages
    )


def step_of(number, dropped=None, *, error=False):
    attributes = {} if dropped is None else {DROPPED: dropped}
    return step(
        number,
        ASSESSOR,
        AGENT,
        additional_attributes=attributes,
        error="it broke" if error else None,
    )


def shown(*plays):
    return trial_json(record(row(AGENT, "one"), chaos=plays), writes)["chaos"]


def told(play):
    """What stands in the conversation, in order: a call's name, a fault's kind of words, or words."""
    return [item.get("name") or item["text"] for item in shown(play)[0]["items"]]


def test_a_lost_reply_stands_before_the_reply_that_counts_and_its_own_words_are_shown_dropped():
    [play] = shown(played(fault("lost_reply", 2), dropped="Ready."))
    assert (play["plain"], play["reward"], play["repeated"]) == (1.0, 0.0, 1)
    assert play["faults"] == "lost_reply 1"
    _, _, call, lost, last = play["items"]
    assert (call["name"], last["text"]) == ("create_task", "Done.")
    assert (lost["who"], lost["dropped"]) == ("fault", "Ready.")


def test_a_duplicate_stands_after_the_reply_that_counts():
    *_, last, second = told(played(fault("duplicate", 2), dropped="Ready."))
    assert last == "Done."
    assert "delivered a second time" in second


def test_a_fault_of_the_first_message_stands_before_the_first_reply_and_not_before_the_greeting():
    assert told(played(fault("busy", 1, detail="429")))[1:4] == [
        "Please.",
        "The message was turned away once and sent again: status 429.",
        "create_task",
    ]


def test_a_fault_of_a_message_without_a_reply_stands_at_the_end():
    play = played(fault("lost_reply", 2), dropped="Ready.", errors={2}, messages=MESSAGES[:4])
    assert told(play)[2:] == [
        "create_task",
        "The reply below was lost, so the same message was sent again.",
    ]


def test_a_call_that_was_turned_away_and_reworded_words_are_marked():
    away = fault("tool_error", 1, call_id="c1")
    [play] = shown(played(away, fault("prompt", 1, detail="Please."), family="tools"))
    marks = {item.get("name") or item["text"]: item.get("fault") for item in play["items"]}
    assert marks["create_task"] == "injected: turned away, did not run"
    assert marks["Please."] == "injected: the first words were reworded by rules"
    assert marks["Done."] is None


def test_a_play_that_met_no_fault_has_no_conversation_of_its_own():
    [play] = shown(played(reward=1.0))
    assert (play["faults"], "items" in play) == ("", False)


def test_a_page_without_faults_holds_nothing_about_them(tmp_path):
    plain = record(row(AGENT, "one"))
    assert "chaos" not in trial_json(plain, writes)
    page = page_of(keep_run(tmp_path, [plain]))
    for word in ("function underFaults", ".dropped", 'id="robustness"'):
        assert word not in page


def test_where_room_is_scarce_the_plain_conversation_stays(tmp_path, monkeypatch):
    whole = record(row(AGENT, "one"), chaos=(played(fault("lost_reply", 2), dropped="Ready."),))
    assert len(packed(whole, writes)) > len(packed(whole, writes, with_faults=False))
    monkeypatch.setattr(gathered, "MOST_FAULTED_CHARS", 10)
    [trial] = unpacked(page_of(keep_run(tmp_path, [whole]))).values()
    assert trial["chaos"] == []
