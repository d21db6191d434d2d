import gc
import threading
import weakref
from datetime import UTC, datetime, timedelta, timezone

from evals.graph.interactions import Interactions
from evals.trace import CallType, InteractionStep, Trace

T0 = datetime(2026, 1, 1, tzinfo=UTC)


def trace_of(*pairs, **fields):
    steps = tuple(
        InteractionStep(
            step_id=f"s{at}",
            trace_id="t",
            call_type=CallType.AGENT,
            caller=caller,
            callee=callee,
            **{"start_time": T0 + timedelta(seconds=at), **fields},
        )
        for at, (caller, callee) in enumerate(pairs)
    )
    return Trace(trace_id="t", steps=steps)


def test_whoever_asks_again_about_a_trace_gets_the_same_interactions():
    trace = trace_of(("a", "b"), ("b", "c"))
    team = Interactions.of(trace)
    assert Interactions.of(trace) is team
    assert Interactions.of(trace, ["a", "d"]) is Interactions.of(trace, ("d", "a"))


def test_a_roster_makes_other_interactions_of_the_same_trace():
    trace = trace_of(("a", "b"))
    assert Interactions.of(trace).members == ("a", "b")
    assert Interactions.of(trace, ["c"]).members == ("a", "b", "c")
    assert not Interactions.of(trace).roster_known
    assert Interactions.of(trace, []).roster_known


def test_an_equal_trace_has_interactions_of_its_own():
    one, other = trace_of(("a", "b")), trace_of(("a", "b"))
    assert Interactions.of(one) is not Interactions.of(other)
    assert Interactions.of(one) == Interactions.of(other)


def test_interactions_are_not_kept_longer_than_their_trace():
    trace = trace_of(("a", "b"))
    team = weakref.ref(Interactions.of(trace))
    del trace
    gc.collect()
    assert team() is None


def test_interactions_of_many_traces_are_not_kept_together():
    traces = [trace_of(("a", "b")) for _ in range(100)]
    teams = [weakref.ref(Interactions.of(trace)) for trace in traces]
    gc.collect()
    assert sum(team() is not None for team in teams) < 20


def test_threads_that_ask_about_many_traces_at_once_get_those_of_their_own():
    traces = [trace_of(("a", f"b{at}")) for at in range(40)]
    wrong = []

    def ask():
        for at, trace in enumerate(traces):
            if Interactions.of(trace).members != ("a", f"b{at}"):
                wrong.append(at)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_times_are_microseconds_since_1970_whatever_their_zone_and_year():
    zone = timezone(timedelta(hours=5, minutes=30))
    late = trace_of(("a", "b"), start_time=datetime(2026, 1, 1, 5, 30, 0, 7, tzinfo=zone))
    (call,) = Interactions.of(late).steps
    assert call.start_us == 1_767_225_600_000_007
    early = trace_of(("a", "b"), start_time=datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
    (call,) = Interactions.of(early).steps
    assert call.start_us == -1


def test_steps_without_times_keep_their_place_in_the_trace():
    trace = trace_of(("a", "b"), ("b", "a"), ("a", "b"), start_time=None)
    renamed = [step.model_copy(update={"step_id": name}) for step, name in zip(
        trace.steps, ("z", "m", "a"), strict=True
    )]  # fmt: skip
    team = Interactions.of(Trace(trace_id="t", steps=tuple(renamed)))
    assert [step.step_id for step in team.steps] == ["z", "m", "a"]


def test_of_steps_that_begin_together_those_above_come_first_then_by_id():
    below = {"s0": "s3", "s1": "s0", "s3": "s2"}
    trace = trace_of(*[("a", "b")] * 5, start_time=T0)
    nested = [
        step.model_copy(update={"parent_step_id": below.get(step.step_id)}) for step in trace.steps
    ]
    team = Interactions.of(trace.model_copy(update={"steps": tuple(nested)}))
    assert [step.step_id for step in team.steps] == ["s2", "s4", "s3", "s0", "s1"]


def test_steps_of_one_id_are_taken_once_where_they_are_the_same_and_all_where_they_differ():
    (step,) = trace_of(("a", "b")).steps
    other = step.model_copy(update={"callee": "c"})
    team = Interactions.of(Trace(trace_id="t", steps=(step, other, step, other)))
    assert dict(team.weights) == {("a", "b"): 1, ("a", "c"): 1}
    assert team.problems[:2] == (
        "1 x id of two different steps: both taken",
        "2 x step sent twice: taken once",
    )
