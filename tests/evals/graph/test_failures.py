from datetime import UTC, datetime, timedelta

import pytest

from evals.graph.failures import (
    FailedShare,
    FailurePropagation,
    FailureRecovery,
    SilentFailures,
    failed_members,
    failures_of,
)
from evals.graph.interactions import Interactions
from evals.graph.metric import Undefined
from evals.trace import CALLER_KIND, USER, CallType, InteractionStep, Trace

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def call(ends, asks="", *, parent=None, error=None, kind=CallType.AGENT, outside=False):
    caller, callee = ends
    return {
        "caller": caller,
        "callee": callee,
        "request_text": asks,
        "parent_step_id": None if parent is None else str(parent),
        "error": error,
        "call_type": kind,
        "additional_attributes": {CALLER_KIND: USER} if outside else {},
    }


def team(*calls, roster=None):
    steps = tuple(
        InteractionStep(
            step_id=str(number),
            trace_id="t",
            start_time=NOW + timedelta(seconds=number),
            end_time=NOW + timedelta(seconds=number),
            **fields,
        )
        for number, fields in enumerate(calls, start=1)
    )
    return Interactions.of(Trace(trace_id="t", steps=steps), roster)


def ids(calls):
    return [call.step_id for call in calls]


def test_a_failure_that_takes_its_callers_down_is_propagated_at_each_level_but_the_last():
    calls = call("ab", error="x"), call("bc", parent=1, error="x"), call("cd", parent=2, error="x")
    found = FailurePropagation().compute(team(*calls))
    assert found.value == pytest.approx(2 / 3)
    assert found.details == {"propagated": 2, "failed_calls": 3}


def test_a_failure_below_a_failed_step_of_the_user_is_propagated():
    calls = call(("user", "a"), outside=True, error="x"), call("ab", parent=1, error="x")
    assert FailurePropagation().compute(team(*calls)).value == 1.0


def test_a_failure_is_recovered_by_a_later_success_with_the_same_arguments():
    calls = call("ab", "q", error="x"), call("ac", "r", error="x"), call("cb", "q")
    found = FailureRecovery().compute(team(*calls))
    assert found.value == 0.5
    assert ids(failures_of(team(*calls)).recovered) == ["1"]


def test_an_earlier_success_recovers_nothing():
    calls = call("ab", "q"), call("ab", "q", error="x")
    assert FailureRecovery().compute(team(*calls)).value == 0.0


def test_unknown_arguments_recover_nothing():
    calls = call("ab", None, error="x"), call("ab", None)
    assert FailureRecovery().compute(team(*calls)).reason.startswith("unknown arguments")
    assert SilentFailures().compute(team(*calls)) == 1.0


def test_a_failure_is_silent_if_it_was_neither_recovered_nor_propagated():
    calls = (
        call("ab"),
        call("bc", "silent", parent=1, error="x"),
        call("bd", "again", parent=1, error="x"),
        call("bd", "again", parent=1),
        call("ae", "up", error="x"),
        call("ef", "down", parent=5, error="x"),
    )
    assert ids(failures_of(team(*calls)).silent) == ["2", "5"]
    assert SilentFailures().compute(team(*calls)) == 2.0


def test_failures_of_tools_count_as_those_of_agents():
    calls = call("ab"), call(("b", "search"), parent=1, error="x", kind=CallType.TOOL)
    assert SilentFailures().compute(team(*calls)) == 1.0
    assert FailedShare().compute(team(*calls)).value == 0.5


def test_a_failed_step_of_the_user_is_no_failure_of_the_team():
    whole = team(call(("user", "a"), outside=True, error="x"), call("ab", parent=1))
    assert FailedShare().compute(whole).value == 0.0
    assert failed_members(whole) == ()


def test_shares_without_a_failure_are_undefined_and_the_count_is_0():
    whole = team(call("ab"))
    assert FailurePropagation().compute(whole) == Undefined("no failed call")
    assert FailureRecovery().compute(whole) == Undefined("no failed call")
    assert SilentFailures().compute(whole) == 0.0


@pytest.mark.parametrize("metric", [SilentFailures(), FailedShare()])
def test_without_any_call_nothing_is_said_of_failures(metric):
    assert metric.compute(team(roster=["a", "b"])).reason.startswith("empty")


def test_the_failed_share_tells_how_many_of_the_calls_a_member_received_failed():
    calls = call("ab", error="x"), call("ab"), call("ac", error="x"), call("ba")
    found = FailedShare().compute(team(*calls, roster=["d"]))
    assert found.value == 0.5
    assert found.values == {"b": 0.5, "c": 1.0, "a": 0.0}
    assert found.skipped == {"d": "received no call"}


def test_a_member_failed_if_every_call_that_it_received_failed():
    calls = call("ab", error="x"), call("ab"), call("ac", error="x"), call("bc", error="y")
    assert failed_members(team(*calls, roster=["d"])) == ("c",)
