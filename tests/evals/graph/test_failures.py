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
from evals.trace import (
    CALLER_KIND,
    OUTCOME_UNKNOWN,
    USER,
    CallType,
    InteractionStep,
    Trace,
)

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
    calls = call("ab"), call("bc", None, parent=1, error="x"), call("bc", None, parent=1)
    assert FailureRecovery().compute(team(*calls)).reason.startswith("unknown arguments")
    assert SilentFailures().compute(team(*calls)).value == 1.0


def test_a_failure_is_silent_if_its_caller_goes_on_and_nobody_asks_again():
    calls = (
        call("ab"),
        call("bc", "silent", parent=1, error="x"),
        call("bd", "again", parent=1, error="x"),
        call("bd", "again", parent=1),
        call("be", "up", parent=1, error="x"),
        call("ef", "down", parent=5, error="x"),
    )
    failures = failures_of(team(*calls))
    assert ids(failures.silent) == ["2", "5"]
    assert ids(failures.recovered) == ["3"]
    assert ids(failures.propagated) == ["6"]
    assert failures.unknown == ()
    found = SilentFailures().compute(team(*calls))
    assert found.value == 2.0
    assert found.details == {"failed_calls": 4, "unknown": 0}


def test_a_failure_without_a_parent_is_unknown_and_not_silent():
    calls = call("ab"), call("bc", parent=1, error="x"), call("bd", error="x")
    failures = failures_of(team(*calls))
    assert ids(failures.silent) == ["2"]
    assert ids(failures.unknown) == ["3"]
    found = SilentFailures().compute(team(*calls))
    assert found.value == 1.0
    assert found.details == {"failed_calls": 2, "unknown": 1}


def test_a_failure_without_a_parent_that_was_recovered_is_not_unknown():
    failures = failures_of(team(call("ab", "q", error="x"), call("ab", "q")))
    assert (failures.silent, failures.unknown) == ((), ())
    assert ids(failures.recovered) == ["1"]


def test_where_no_step_shows_what_any_caller_did_the_number_of_silent_failures_is_undefined():
    found = SilentFailures().compute(team(call("ab", error="x"), call("ac", error="x")))
    assert found == Undefined(
        "unknown callers: no step above shows what the callers of the failed calls did (2)"
    )


def test_a_parent_that_is_not_in_the_trace_is_as_good_as_none():
    failures = failures_of(team(call("ab"), call("bc", parent=7, error="x")))
    assert (failures.silent, ids(failures.unknown)) == ((), ["2"])


def test_a_failure_in_the_course_of_the_users_question_is_silent_if_that_was_answered():
    calls = call(("user", "a"), outside=True), call("ab", parent=1, error="x")
    assert ids(failures_of(team(*calls)).silent) == ["2"]


def test_whom_no_member_calls_answers_a_user_who_knows_the_team_by_its_address():
    address = call(("user", "http://team"), outside=True)
    by_the_lead = call("ab", parent=1, error="x"), call("ac", parent=1)
    assert ids(failures_of(team(address, *by_the_lead)).silent) == ["2"]
    # c was called by a, in a step that this call is not linked to.
    by_another = call("ac", parent=1), call("cb", parent=1, error="x")
    failures = failures_of(team(address, *by_another))
    assert (failures.silent, ids(failures.unknown)) == ((), ["3"])
    # Where the user asks a member by name, nobody else answers.
    beside = (
        call(("user", "a"), outside=True),
        call("ab", parent=1),
        call("cb", parent=1, error="x"),
    )
    assert ids(failures_of(team(*beside)).unknown) == ["3"]


def test_a_failure_below_a_step_that_its_caller_neither_made_nor_answered_is_unknown():
    failures = failures_of(team(call("ab"), call("cd", parent=1, error="x")))
    assert (failures.silent, ids(failures.unknown)) == ((), ["2"])


@pytest.mark.parametrize(
    ("own", "tool", "silent", "propagated", "unknown"),
    [
        # The tool swallows the error, and its user answers as if nothing were.
        ({}, {}, ["3"], [], []),
        # The tool fails as well, and its user goes on: now the tool's failure is the silent one.
        ({}, {"error": "x"}, ["2"], ["3"], []),
        # Both say so.
        ({"error": "x"}, {"error": "x"}, [], ["2", "3"], ["1"]),
        # The tool swallows the error, but its user fails.
        ({"error": "x"}, {}, [], [], ["1"]),
    ],
)
def test_below_a_tool_it_is_the_tools_user_who_notices_or_not(
    own, tool, silent, propagated, unknown
):
    calls = (
        call("ab", **own),
        call(("b", "ask"), parent=1, kind=CallType.TOOL, **tool),
        call("bc", parent=2, error="x"),
    )
    failures = failures_of(team(*calls))
    assert ids(failures.silent) == silent
    assert ids(failures.propagated) == propagated
    assert ids(failures.unknown) == unknown


def test_a_tool_without_a_step_of_its_user_shows_nothing():
    calls = call(("b", "ask"), kind=CallType.TOOL), call("bc", parent=1, error="x")
    failures = failures_of(team(*calls))
    assert (failures.silent, ids(failures.unknown)) == ((), ["2"])


def test_failures_of_tools_count_as_those_of_agents():
    calls = call("ab"), call(("b", "search"), parent=1, error="x", kind=CallType.TOOL)
    assert SilentFailures().compute(team(*calls)).value == 1.0
    assert FailedShare().compute(team(*calls)).value == 0.5


def test_a_failed_step_of_the_user_is_no_failure_of_the_team():
    whole = team(call(("user", "a"), outside=True, error="x"), call("ab", parent=1))
    assert FailedShare().compute(whole).value == 0.0
    assert failed_members(whole) == ()


def test_shares_without_a_failure_are_undefined_and_the_count_is_0():
    whole = team(call("ab"))
    assert FailurePropagation().compute(whole) == Undefined("no failed call")
    assert FailureRecovery().compute(whole) == Undefined("no failed call")
    assert SilentFailures().compute(whole).value == 0.0


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


@pytest.mark.parametrize(
    "metric", [FailedShare(), FailurePropagation(), FailureRecovery(), SilentFailures()]
)
def test_where_a_step_cannot_tell_whether_it_failed_nothing_counts_failures(metric):
    told = call("ab", "x", error="no")
    untold = call("ab", "x") | {"additional_attributes": {OUTCOME_UNKNOWN: "true"}}
    found = metric.compute(team(told, untold))
    assert isinstance(found, Undefined)
    assert found.reason.startswith("unknown outcomes:")
