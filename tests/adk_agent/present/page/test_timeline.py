"""The steps of a trace by time, nested as they were made."""

from hypothesis import given
from hypothesis import strategies as st

from adk_agent.present.page.step_tree import MOST_DEPTH, MOST_STEPS, step_tree
from adk_agent.present.page.timeline import timeline
from evals.trace import ASSESSOR, Provenance, Trace
from tests.adk_agent.present.page.kept_run import step


def trace(*steps):
    return Trace(trace_id="t", steps=steps)


def test_a_timeline_keeps_the_clocks_of_participants_within_what_was_seen():
    seen = step(1, ASSESSOR, "a", lasts_ms=50)
    ahead = step(2, "a", "b", begins_ms=9_999_999, provenance=Provenance.REPORTED)
    found = timeline(trace(seen, ahead))
    assert found["lanes"] == ["a", "b"]
    assert [(each["at"], each["to"]) for each in found["steps"]] == [(0.0, 50.0), (50.0, 50.0)]


def test_a_step_without_a_time_stays_behind_the_one_before_it_and_is_counted():
    late = step(1, "a", "late", begins_ms=90)
    early = step(2, "a", "early", begins_ms=10)
    untimed = step(3, "a", "untimed", start_time=None, end_time=None, latency_ms=None)
    found = timeline(trace(early, untimed, late))
    assert found["lanes"] == ["early", "untimed", "late"]
    assert found["steps"][1]["at"] is None
    assert (found["untimed"], found["left_out"]) == (1, 0)


def test_nested_steps_stand_behind_the_step_that_encloses_them():
    first = step(1, ASSESSOR, "lead", lasts_ms=100)
    second = step(2, ASSESSOR, "lead", begins_ms=200)
    inner = step(3, "lead", "a", begins_ms=10, parent_step_id="t.1")
    innermost = step(4, "a", "tool", begins_ms=20, parent_step_id="t.3")
    orphan = step(5, "lead", "b", begins_ms=30, parent_step_id="gone")
    found = step_tree(trace(second, orphan, innermost, inner, first))
    assert [(each.step_id, depth) for each, depth in found] == [
        ("t.1", 0),
        ("t.3", 1),
        ("t.4", 2),
        ("t.5", 0),
        ("t.2", 0),
    ]


@given(st.lists(st.integers(0, 9), max_size=10))
def test_every_step_stands_in_the_tree_once_whatever_parents_are_told(parents):
    steps = [
        step(number, "a", "b", parent_step_id=f"t.{parent}")
        for number, parent in enumerate(parents)
    ]
    found = step_tree(trace(*steps))
    assert sorted(each.step_id for each, _ in found) == sorted(each.step_id for each in steps)


def test_a_chain_of_thousands_of_steps_is_cut_and_what_is_left_out_is_counted():
    steps = [step(n, "a", "b", parent_step_id=f"t.{n - 1}") for n in range(3_000)]
    found = timeline(trace(*steps))
    assert len(found["steps"]) == MOST_STEPS
    assert found["left_out"] == 3_000 - MOST_STEPS
    assert max(each.get("depth", 0) for each in found["steps"]) == MOST_DEPTH


def test_tokens_and_cost_stand_where_a_step_has_them():
    told, silent = step(1, ASSESSOR, "a", total_tokens=12, cost=0.0), step(2, ASSESSOR, "a")
    first, second = timeline(trace(told, silent))["steps"]
    assert (first["tokens"], first["cost"]) == (12, 0.0)
    assert {"tokens", "cost", "depth"}.isdisjoint(second)
