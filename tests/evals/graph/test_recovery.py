"""Which failed calls a later call made good, on traces with times by hand, in seconds."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.graph.failures import FailureRecovery, failures_of
from evals.graph.interactions import Interactions
from evals.graph.recovery import recovered_calls
from evals.trace import CallType, InteractionStep, Trace

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(second):
    return None if second is None else NOON + timedelta(seconds=second)


def call(step_id, begin, end, ends="ab", asks="q", *, fails=False, parent=None, tool=False):
    """A call of a to b about q, from one second to another; None where that is unknown."""
    return InteractionStep(
        step_id=step_id,
        trace_id="t",
        parent_step_id=parent,
        call_type=CallType.TOOL if tool else CallType.AGENT,
        caller=ends[0],
        callee=ends[1],
        start_time=at(begin),
        end_time=at(end),
        request_text=asks,
        error="down" if fails else None,
    )


def team(*steps):
    return Interactions.of(Trace(trace_id="t", steps=steps))


def recovered(*steps):
    """The ids of the recovered calls."""
    return [found.step_id for found in recovered_calls(team(*steps))]


def test_a_call_that_begins_after_the_failure_ended_recovers_it():
    assert recovered(call("1", 0, 2, fails=True), call("2", 3, 4)) == ["1"]


def test_a_call_that_begins_before_the_failure_ended_recovers_nothing():
    assert recovered(call("1", 0, 2, fails=True), call("2", 1, 1.5)) == []
    assert recovered(call("1", 0, 2, fails=True), call("2", 1, 4)) == []


def test_a_call_that_begins_as_the_failure_ends_recovers_it():
    assert recovered(call("1", 0, 2, fails=True), call("2", 2, 3)) == ["1"]
    assert recovered(call("1", 0, 2, fails=True), call("2", 1.999999, 3)) == []


def test_of_calls_that_take_no_time_at_the_same_moment_their_order_decides():
    assert recovered(call("1", 5, 5, fails=True), call("2", 5, 5)) == ["1"]
    assert recovered(call("1", 5, 5), call("2", 5, 5, fails=True)) == []


def test_a_success_inside_the_failed_call_recovers_nothing():
    failed = call("1", 0, 9, fails=True)
    assert recovered(failed, call("2", 1, 2, parent="1")) == []
    deeper = call("2", 1, 8, "bc", "r", parent="1"), call("3", 2, 3, "cb", parent="2")
    assert recovered(failed, *deeper) == []


def test_a_success_below_the_failed_call_recovers_nothing_though_it_begins_later():
    """A clock that is ahead, or work that goes on when the caller has given up."""
    assert recovered(call("1", 0, 2, fails=True), call("2", 3, 4, parent="1")) == []


def test_an_attempt_inside_a_call_is_recovered_by_the_next_attempt_inside_it():
    whole = call("1", 0, 9, ("lead", "desk"), "all", fails=True)
    first = call("2", 1, 2, ("desk", "db"), fails=True, parent="1", tool=True)
    second = call("3", 3, 4, ("desk", "db"), parent="1", tool=True)
    assert recovered(whole, first, second) == ["2"]


def test_a_success_after_the_failure_counts_beside_one_inside_it():
    inside = call("2", 1, 2, parent="1")
    assert recovered(call("1", 0, 3, fails=True), inside, call("3", 4, 5)) == ["1"]


def test_a_success_before_the_failure_recovers_nothing():
    assert recovered(call("1", 0, 1), call("2", 2, 3, fails=True)) == []


def test_a_call_around_the_failure_recovers_nothing():
    assert recovered(call("1", 0, 9), call("2", 1, 2, fails=True, parent="1")) == []


def test_a_repetition_that_fails_too_recovers_nothing_and_both_are_recovered_by_the_third():
    first, second = call("1", 0, 1, fails=True), call("2", 2, 3, fails=True)
    assert recovered(first, second) == []
    assert recovered(first, second, call("3", 4, 5)) == ["1", "2"]


@pytest.mark.parametrize(
    "other",
    [
        {"asks": "r"},
        {"ends": "ac"},
        {"asks": None},
        {"tool": True},
    ],
)
def test_only_the_same_question_to_the_same_callee_recovers(other):
    assert recovered(call("1", 0, 1, fails=True), call("2", 2, 3, **other)) == []


def test_anybody_may_ask_again():
    assert recovered(call("1", 0, 1, fails=True), call("2", 2, 3, "cb")) == ["1"]


def test_where_a_time_is_unknown_the_order_decides():
    assert recovered(call("1", 0, None, fails=True), call("2", 1, 2)) == ["1"]
    assert recovered(call("1", 0, 9, fails=True), call("2", None, None)) == ["1"]
    assert recovered(call("1", None, None, fails=True), call("2", None, None)) == ["1"]
    assert recovered(call("1", None, None), call("2", None, None, fails=True)) == []


def test_where_a_time_is_unknown_a_call_inside_recovers_nothing_either():
    assert recovered(call("1", 0, None, fails=True), call("2", 1, 2, parent="1")) == []
    assert recovered(call("1", 0, 9, fails=True), call("2", None, None, parent="1")) == []


def test_an_end_before_the_beginning_is_as_unknown():
    assert recovered(call("1", 5, 3, fails=True), call("2", 6, 7)) == ["1"]


def test_the_share_counts_recovered_calls_of_those_whose_arguments_are_known():
    steps = (
        call("1", 0, 2, fails=True),
        call("2", 1, 2, asks="r", fails=True),
        call("3", 1.5, 3, asks="r"),
        call("4", 3, 4),
        call("5", 4, 5, asks=None, fails=True),
    )
    found = FailureRecovery().compute(team(*steps))
    assert found.value == 0.5
    assert found.details == {"recovered": 1, "failed_calls": 2}


def recovered_by_definition(steps):
    """The same, by a look at every pair of calls of a trace whose times are all known."""
    parents = {step.step_id: step.parent_step_id for step in steps}

    def above(step_id):
        while (step_id := parents[step_id]) is not None:
            yield step_id

    return {
        failed.step_id
        for failed in steps
        for other in steps
        if failed.error is not None
        and other.error is None
        and (other.callee, other.request_text) == (failed.callee, failed.request_text)
        and other.start_time >= failed.end_time
        and other.start_time > failed.start_time
        and failed.step_id not in above(other.step_id)
    }


@st.composite
def forests(draw):
    """Calls that begin at different times, some below earlier ones; many ask the same."""
    size = draw(st.integers(0, 12))
    begins = draw(st.permutations(range(size)))
    return [
        call(
            f"{number:02}",
            begins[number],
            begins[number] + draw(st.integers(0, 8)),
            draw(st.sampled_from(["ab", "cb", "bc"])),
            draw(st.sampled_from("qr")),
            fails=draw(st.booleans()),
            parent=draw(st.none() | st.sampled_from([f"{n:02}" for n in range(number)]))
            if number
            else None,
        )
        for number in range(size)
    ]


@given(forests(), st.data())
def test_it_finds_what_a_look_at_every_pair_finds_in_whatever_order_steps_are_written(steps, data):
    written = data.draw(st.permutations(steps))
    assert set(recovered(*written)) == recovered_by_definition(steps)


@given(forests(), st.permutations("abc"))
def test_names_of_agents_and_ids_of_steps_change_nothing(steps, letters):
    name = dict(zip("abc", letters, strict=True))
    others = [
        step.model_copy(
            update={
                "step_id": step.step_id[::-1],
                "parent_step_id": step.parent_step_id and step.parent_step_id[::-1],
                "caller": name[step.caller],
                "callee": name[step.callee],
            }
        )
        for step in steps
    ]
    assert [step_id[::-1] for step_id in recovered(*others)] == recovered(*steps)
    one, other = failures_of(team(*steps)), failures_of(team(*others))
    assert [c.index for c in one.silent] == [c.index for c in other.silent]
    assert [c.index for c in one.unknown] == [c.index for c in other.unknown]


def test_very_many_equal_calls_inside_each_other_are_looked_through_once():
    """By pairs these would be 400 million."""
    size = 20_000
    steps = [
        call(f"{n:05}", n, 2 * size - n, fails=True, parent=f"{n - 1:05}" if n else None)
        for n in range(size)
    ]
    within = [
        call(f"s{n:05}", 2 * size + n, 3 * size, parent=f"{size - 1:05}") for n in range(size)
    ]
    assert recovered(*steps, *within) == []
    assert len(recovered(*steps, *within, call("z", 3 * size, 3 * size))) == size
