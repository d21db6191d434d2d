from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.graph.interactions import Interactions
from evals.graph.metric import PerAgent, Undefined
from evals.graph.schedule import CriticalPathShare, IdleRatio, Parallelism
from evals.trace import CALLER_KIND, USER, CallType, InteractionStep, Trace

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def call(number, ends, start, end, *, parent=None, kind=CallType.AGENT, outside=False):
    """A step `number` from ends[0] to ends[1], between two times in seconds (None: unknown)."""
    caller, callee = ends
    return InteractionStep(
        step_id=str(number),
        trace_id="t",
        parent_step_id=None if parent is None else str(parent),
        call_type=kind,
        caller=caller,
        callee=callee,
        start_time=None if start is None else NOW + timedelta(seconds=start),
        end_time=None if end is None else NOW + timedelta(seconds=end),
        additional_attributes={CALLER_KIND: USER} if outside else {},
    )


def team(*steps, roster=None):
    return Interactions.of(Trace(trace_id="t", steps=steps), roster)


def parallelism(*steps):
    return Parallelism().compute(team(*steps))


def test_a_serial_schedule_has_a_parallelism_of_1():
    assert parallelism(call(1, "ab", 0, 3), call(2, "bc", 3, 5), call(3, "cd", 5, 6)) == 1.0


def test_nested_calls_run_one_at_a_time():
    assert parallelism(call(1, "ab", 0, 6), call(2, "bc", 1, 5, parent=1)) == 1.0


@pytest.mark.parametrize("ways", [1, 2, 5])
def test_a_fan_out_to_k_has_a_parallelism_of_k(ways):
    workers = [call(i, ("lead", f"w{i}"), 0, 4, parent=0) for i in range(1, ways + 1)]
    assert parallelism(call(0, ("user", "lead"), 0, 4, outside=True), *workers) == ways


def test_a_pause_between_steps_lowers_the_parallelism():
    assert parallelism(call(1, "ab", 0, 1), call(2, "ab", 3, 4)) == 0.5


def test_children_are_clamped_into_their_parents():
    # The child's clock is off: of its 10 s only the 2 s inside the parent count.
    child_late = call(2, "bc", 8, 18, parent=1)
    assert parallelism(call(1, "ab", 0, 10), child_late) == 1.0
    child_elsewhere = call(2, "bc", 50, 60, parent=1)
    assert parallelism(call(1, "ab", 0, 10), child_elsewhere) == 1.0


def test_a_child_of_a_step_without_times_is_clamped_into_the_one_above_that():
    steps = (
        call(1, "ab", 0, 10),
        call(2, "bc", None, None, parent=1),
        call(3, "cd", 5, 99, parent=2),
    )
    assert parallelism(*steps) == 1.0
    shares = CriticalPathShare().compute(team(*steps))
    assert shares.values == {"b": 0.5, "d": 0.5}


def test_overlapping_children_are_subtracted_from_their_parent_once():
    # a's call: 10 s, children cover 1..7 (6 s), so self 4; children 4 + 4. Sum 12 over 10.
    steps = call(1, "ab", 0, 10), call(2, "bc", 1, 5, parent=1), call(3, "bd", 3, 7, parent=1)
    assert parallelism(*steps) == 1.2


def test_the_critical_path_follows_the_latest_ending_steps_back_from_the_end():
    # c runs 1..5, d 2..9, e 6..8: the path is d (2..9), then nothing that had ended by 2, so the
    # rest, 0..2 and 9..10, is b's own.
    steps = (
        call(1, "ab", 0, 10),
        call(2, "bc", 1, 5, parent=1),
        call(3, "bd", 2, 9, parent=1),
        call(4, "be", 6, 8, parent=1),
    )
    shares = CriticalPathShare().compute(team(*steps))
    assert shares.values == {"b": 0.3, "c": 0.0, "d": 0.7, "e": 0.0}
    assert shares.value == 0.7


def test_the_critical_path_goes_into_the_steps_on_it():
    # Back from 10: c (4..9), inside it the tool (5..8); before c: d (0..4).
    steps = (
        call(1, "ab", 0, 10),
        call(2, "bc", 4, 9, parent=1),
        call(3, ("c", "search"), 5, 8, parent=2, kind=CallType.TOOL),
        call(4, "bd", 0, 4, parent=1),
    )
    shares = CriticalPathShare().compute(team(*steps))
    assert shares.values == {"b": 0.1, "c": 0.2, "search": 0.3, "d": 0.4}
    assert shares.skipped == {"a": "answered no call with times"}


def test_of_siblings_that_end_at_once_the_one_that_began_first_is_on_the_path():
    steps = call(1, "ab", 0, 4), call(2, "bc", 2, 4, parent=1), call(3, "bd", 1, 4, parent=1)
    assert CriticalPathShare().compute(team(*steps)).values == {"b": 0.25, "c": 0, "d": 0.75}


def test_time_between_steps_without_a_step_above_is_nobodys():
    shares = CriticalPathShare().compute(team(call(1, "ab", 0, 1), call(2, "ac", 3, 4)))
    assert shares.values == {"b": 0.25, "c": 0.25}


def test_a_tool_that_is_called_like_a_member_is_told_apart():
    steps = call(1, "ab", 0, 4), call(2, ("b", "a"), 1, 2, parent=1, kind=CallType.TOOL)
    assert CriticalPathShare().compute(team(*steps)).values == {"b": 0.75, "a (tool)": 0.25}


def test_a_step_opened_from_outside_counts_in_the_metrics_of_time():
    steps = call(1, ("user", "a"), 0, 10, outside=True), call(2, "ab", 2, 7, parent=1)
    assert CriticalPathShare().compute(team(*steps)).values == {"a": 0.5, "b": 0.5}


def test_idle_is_the_time_in_which_a_member_takes_part_in_no_step():
    # a makes calls 0..2 and 6..10: idle 4 of 10; b answers 0..2: 8; c answers 6..10: 6; d nothing.
    steps = call(1, "ab", 0, 2), call(2, "ac", 6, 10)
    found = IdleRatio().compute(team(*steps, roster=["d"]))
    assert found.values == {"a": 0.4, "b": 0.8, "c": 0.6, "d": 1.0}
    assert found.value == 0.7


def test_overlapping_steps_of_a_member_make_it_busy_once():
    found = IdleRatio().compute(
        team(call(1, "ab", 0, 6), call(2, "ab", 4, 8), call(3, "ac", 9, 10))
    )
    assert found.values == {"a": 0.1, "b": 0.2, "c": 0.9}


def test_a_member_whose_steps_lack_times_has_no_idle_ratio():
    found = IdleRatio().compute(team(call(1, "ab", 0, 6), call(2, "ac", None, 8)))
    assert found.values == {"a": 0.0, "b": 0.0}
    assert found.skipped == {"c": "no step with times"}


@pytest.mark.parametrize("metric", [CriticalPathShare(), Parallelism(), IdleRatio()])
@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([], "no times"),
        ([call(1, "ab", None, None)], "no times"),
        ([call(1, "ab", 5, 3)], "no times"),
        ([call(1, "ab", 5, 5)], "no time passes"),
    ],
)
def test_without_times_the_metrics_of_time_are_undefined(metric, steps, reason):
    found = metric.compute(team(*steps))
    assert isinstance(found, Undefined)
    assert found.reason.startswith(reason)


def test_without_members_there_is_no_idle_ratio():
    found = IdleRatio().compute(team(call(1, ("user", "a"), 0, 1, outside=True)))
    assert found == Undefined("no members: no call between agents, and no roster")


def test_a_chain_of_30_000_nested_steps_is_scheduled():
    count = 30_000
    steps = [
        InteractionStep.model_construct(
            step_id=str(i),
            trace_id="t",
            parent_step_id=str(i - 1) if i else None,
            call_type=CallType.AGENT,
            caller=f"a{i % 2}",
            callee=f"a{(i + 1) % 2}",
            start_time=NOW + timedelta(microseconds=i),
            end_time=NOW + timedelta(microseconds=2 * count - i),
        )
        for i in range(count)
    ]
    deep = Interactions.of(Trace.model_construct(trace_id="t", steps=tuple(steps)))
    assert Parallelism().compute(deep) == 1.0
    assert CriticalPathShare().compute(deep).value == pytest.approx(0.5, abs=1e-4)


@st.composite
def schedules(draw):
    count = draw(st.integers(1, 12))
    steps = []
    for i in range(count):
        start = draw(st.integers(0, 20))
        ends = draw(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")))
        steps.append(
            call(
                i,
                ends,
                start,
                start + draw(st.integers(0, 9)),
                parent=draw(st.none() | st.integers(0, count)),
                kind=draw(st.sampled_from([CallType.AGENT, CallType.AGENT, CallType.TOOL])),
            )
        )
    return steps


@given(schedules())
def test_shares_of_the_critical_path_never_sum_to_more_than_1(steps):
    shares = CriticalPathShare().compute(team(*steps))
    if isinstance(shares, PerAgent):
        assert sum(shares.values.values()) <= 1 + 1e-12
        assert all(share >= 0 for share in shares.values.values())


@given(schedules(), st.integers(2, 1000), st.integers(-(10**6), 10**6))
def test_scaling_and_shifting_time_changes_no_metric_of_time(steps, factor, shift):
    def moved(time):
        return NOW + factor * (time - NOW) + timedelta(seconds=shift)

    later = [
        step.model_copy(
            update={"start_time": moved(step.start_time), "end_time": moved(step.end_time)}
        )
        for step in steps
    ]
    for metric in (CriticalPathShare(), Parallelism(), IdleRatio()):
        assert metric.compute(team(*steps)) == metric.compute(team(*later))


@given(schedules())
def test_parallelism_is_the_mean_number_of_steps_without_a_running_child(steps):
    # Counted second by second, which the times in whole seconds allow.
    whole = team(*steps)
    found = Parallelism().compute(whole)
    if isinstance(found, Undefined):
        return
    spans = _clamped(whole)
    begin, end = min(s for s, _ in spans), max(e for _, e in spans)
    at_work = 0
    for second in range(begin, end):
        running = [s <= second < e for s, e in spans]
        waiting = {step.parent for step in whole.steps if running[step.index]}
        at_work += sum(running[i] and i not in waiting for i in range(len(spans)))
    assert found == pytest.approx(at_work / (end - begin))


def _clamped(whole):
    """Spans in seconds, each within those of all steps above it."""
    origin = int(NOW.timestamp())
    spans = {}

    def span(index):
        if index not in spans:
            step = whole.steps[index]
            start, end = step.start_us // 10**6 - origin, step.end_us // 10**6 - origin
            if step.parent is not None:
                first, last = span(step.parent)
                start, end = min(max(start, first), last), max(min(end, last), first)
            spans[index] = start, end
        return spans[index]

    return [span(step.index) for step in whole.steps]
