from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.graph.handoffs import (
    DelegationCycles,
    DelegationDepth,
    DuplicateWork,
    PingPongShare,
    RetryShare,
)
from evals.graph.interactions import Interactions
from evals.graph.metric import Undefined
from evals.graph.nesting import nesting_of
from evals.trace import CALLER_KIND, USER, CallType, InteractionStep, Trace

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def call(ends, asks="", *, parent=None, error=None, kind=CallType.AGENT, outside=False, at=None):
    """A call from ends[0] to ends[1]; `parent` is the number of a step, from 1."""
    caller, callee = ends
    return {
        "caller": caller,
        "callee": callee,
        "request_text": asks,
        "parent_step_id": None if parent is None else str(parent),
        "error": error,
        "call_type": kind,
        "additional_attributes": {CALLER_KIND: USER} if outside else {},
        "start_time": None if at is None else NOW + timedelta(seconds=at),
    }


def team(*calls, roster=None):
    steps = []
    for number, fields in enumerate(calls, start=1):
        start = fields["start_time"] or NOW + timedelta(seconds=number)
        timed = {**fields, "start_time": start, "end_time": start}
        steps.append(InteractionStep(step_id=str(number), trace_id="t", **timed))
    return Interactions.of(Trace(trace_id="t", steps=tuple(steps)), roster)


def test_every_handoff_of_an_endless_ping_pong_goes_straight_back():
    found = PingPongShare().compute(team(*(call(e) for e in ("ab", "ba", "ab", "ba"))))
    assert found.value == 1.0
    assert found.details == {"reversals": 3, "calls": 4}


def test_ping_pong_counts_only_reversals_of_the_call_right_before():
    found = PingPongShare().compute(team(*(call(e) for e in ("ab", "ba", "ac", "ab", "ba"))))
    assert found.value == 0.5


def test_calls_of_an_agent_to_itself_are_no_ping_pong():
    found = PingPongShare().compute(team(*(call(e) for e in ("ab", "bb", "bb", "bc"))))
    assert found.value == 0.0
    assert found.details["calls"] == 2


@pytest.mark.parametrize(
    ("calls", "reason"),
    [([], "empty"), ([call("aa")], "empty"), ([call("ab")], "needs at least 2")],
)
def test_ping_pong_needs_two_calls_between_agents(calls, reason):
    assert PingPongShare().compute(team(*calls)).reason.startswith(reason)


def test_depth_counts_the_calls_between_agents_on_the_longest_line_of_parents():
    calls = (
        call(("user", "a"), outside=True),
        call("ab", parent=1),
        call(("b", "search"), parent=2, kind=CallType.TOOL),
        call("bc", parent=3),
        call("ad", parent=1),
    )
    assert DelegationDepth().compute(team(*calls)) == 2.0


def test_depth_without_calls_between_agents_is_undefined():
    assert isinstance(DelegationDepth().compute(team(roster=["a", "b"])), Undefined)


def test_a_child_that_seems_to_begin_before_its_parent_still_lies_below_it():
    calls = call("ab", "x", at=9), call("bc", "y", parent=1, at=5), call("cb", "x", parent=2, at=1)
    assert DelegationDepth().compute(team(*calls)) == 3.0
    assert DelegationCycles().compute(team(*calls)) == 1.0


def test_a_request_that_comes_back_to_an_agent_above_closes_a_circle():
    calls = call("ab", "q"), call("ba", "q", parent=1), call("ab", "q", parent=2)
    assert DelegationCycles().compute(team(*calls)) == 1.0
    assert [c.step_id for c in nesting_of(team(*calls)).cycles] == ["3"]


@pytest.mark.parametrize(
    "second",
    [
        call("cb", "other", parent=1),
        call("cb", "q"),
        call("ba", "q", parent=1),
        call(("c", "b"), "q", parent=1, kind=CallType.TOOL),
        call(("user", "b"), "q", parent=1, outside=True),
    ],
)
def test_other_arguments_another_line_agent_or_kind_close_no_circle(second):
    assert DelegationCycles().compute(team(call("ab", "q"), second)) == 0.0


def test_the_users_own_step_closes_no_circle():
    calls = call(("user", "a"), "q", outside=True), call("ba", "q", parent=1)
    assert DelegationCycles().compute(team(*calls)) == 0.0


def test_circles_of_unknown_arguments_are_undefined():
    calls = call("ab", None), call("cb", None, parent=1)
    assert DelegationCycles().compute(team(*calls)).reason.startswith("unknown arguments")


def test_the_same_request_to_the_same_callee_is_duplicate_work_whoever_asks():
    found = DuplicateWork().compute(team(call("ab", "q"), call("cb", " q "), call("cb", "r")))
    assert found.value == pytest.approx(1 / 3)
    assert found.details == {"duplicates": 1, "calls": 3, "arguments_unknown": 0}


def test_a_tool_asked_twice_is_duplicate_work_too():
    tool = call(("a", "search"), "q", kind=CallType.TOOL)
    assert DuplicateWork().compute(team(tool, tool, call("ab", "q"))).value == pytest.approx(1 / 3)


def test_kind_callee_and_arguments_must_all_agree():
    calls = call("ab", "q"), call("ac", "q"), call("ab", "r"), call("ab", "q", kind=CallType.TOOL)
    assert DuplicateWork().compute(team(*calls)).value == 0.0


def test_a_retry_of_a_failed_call_is_counted_apart():
    calls = call("ab", "q", error="down"), call("ab", "q", error="down"), call("ab", "q")
    assert DuplicateWork().compute(team(*calls)).value == 0.0
    assert RetryShare().compute(team(*calls)).value == pytest.approx(2 / 3)


def test_a_call_repeated_after_its_retry_succeeded_is_a_duplicate():
    calls = call("ab", "q", error="down"), call("ab", "q"), call("ab", "q")
    assert DuplicateWork().compute(team(*calls)).value == pytest.approx(1 / 3)
    assert RetryShare().compute(team(*calls)).value == pytest.approx(1 / 3)


@pytest.mark.parametrize("metric", [DuplicateWork(), RetryShare()])
def test_unknown_arguments_equal_nothing_and_are_left_out_of_the_share(metric):
    known = metric.compute(team(call("ab", "q"), call("ab", None), call("ab", None)))
    assert known.value == 0.0
    assert known.details["calls"] == 1
    assert known.details["arguments_unknown"] == 2
    assert metric.compute(team(call("ab", None))).reason.startswith("unknown arguments")
    assert metric.compute(team()).reason.startswith("empty")


def test_steps_opened_from_outside_are_no_work_of_the_team():
    calls = call(("user", "a"), "q", outside=True), call("ba", "q"), call("ab", "z")
    assert DuplicateWork().compute(team(*calls)).value == 0.0


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ab", "ba", "bc", "ca", "aa"]),
            st.sampled_from("qr"),
            st.none() | st.integers(1, 12),
        ),
        max_size=12,
    )
)
def test_cycles_and_depth_are_those_of_a_search_through_the_ancestors(plan):
    whole = team(*(call(ends, asks, parent=parent) for ends, asks, parent in plan))

    def above(step):
        while step.parent is not None:
            step = whole.steps[step.parent]
            yield step

    def asked(step):
        return step.kind, step.callee, step.arguments

    closing = [s for s in whole.steps if any(asked(other) == asked(s) for other in above(s))]
    assert nesting_of(whole).cycles == tuple(closing)
    deepest = max((1 + sum(1 for _ in above(step)) for step in whole.steps), default=0)
    assert nesting_of(whole).depth == deepest
