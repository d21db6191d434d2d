"""The reader of ground truth, and the traces that lists of edges stand for."""

import json
from pathlib import Path

import pytest
from ground_truth import BEGIN, TraceSource, read_ground_truth, trace_of
from pydantic import ValidationError

from evals.trace import CallType

FILE = Path(__file__).parents[3] / "data/ground_truth.json"


def source(*edges, roster=None):
    return TraceSource(kind="trace", edges=edges, roster=roster)


def steps_of(*edges):
    return trace_of(source(*edges), trace_id="t").steps


def span_ms(step):
    begin, end = step.start_time - BEGIN, step.end_time - BEGIN
    return round(begin.total_seconds() * 1000), round(end.total_seconds() * 1000)


def test_calls_follow_one_another_every_100_ms_and_take_50():
    first, second = steps_of(("a", "b", "x"), ("b", "c", "y"))
    assert (first.caller, first.callee, first.request_text) == ("a", "b", "x")
    assert span_ms(first) == (0, 50)
    assert span_ms(second) == (100, 150)
    assert second.latency_ms == 50.0
    assert first.call_type is CallType.AGENT


def test_a_call_encloses_those_below_it_unless_it_says_how_long_it_takes():
    first, second, third = steps_of(
        ("a", "b", "x"), ("b", "c", "y", {"parent": 0}), ("c", "d", "z", {"parent": 1})
    )
    assert second.parent_step_id == first.step_id
    assert third.parent_step_id == second.step_id
    assert span_ms(first) == (0, 250)
    assert span_ms(second) == (100, 250)
    short, _ = steps_of(("a", "b", "x", {"duration_ms": 7}), ("b", "c", "y", {"parent": 0}))
    assert span_ms(short) == (0, 7)


def test_an_edge_can_say_when_it_begins_and_that_it_failed():
    (step,) = steps_of(("a", "b", "x", {"start_ms": 30, "error": "refused"}))
    assert span_ms(step) == (30, 80)
    assert step.error == "refused"


def test_a_tool_and_the_user_are_told_apart_from_agents():
    asked, looked_up = steps_of(
        ("user", "a", "x", {"caller_kind": "user"}), ("a", "table", "y", {"call_type": "TOOL"})
    )
    assert asked.from_outside
    assert looked_up.call_type is CallType.TOOL


def test_unknown_arguments_stay_unknown():
    (step,) = steps_of(("a", "b", None))
    assert step.request_text is None


def test_ids_sort_like_the_edges():
    ids = [step.step_id for step in steps_of(*[("a", "b", None)] * 12)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 12


def test_no_edges_make_an_empty_trace():
    assert steps_of() == ()


def test_a_parent_that_does_not_come_before_is_refused():
    with pytest.raises(ValidationError, match="edge 0 has parent 0; a parent is an earlier edge"):
        source(("a", "b", "x", {"parent": 0}))


def first_scenario(truth):
    return truth["scenarios"][0]


BREAKS = {
    "labels must be sorted": lambda t: first_scenario(t).update(labels=["loop", "balanced"]),
    "Input should be 'balanced'": lambda t: first_scenario(t).update(labels=["splendid"]),
    "Input should be 'high'": lambda t: first_scenario(t).update({"class": "splendid"}),
    "classes without a definition: high": lambda t: t["classes"].pop("high"),
    "two scenarios have the id": lambda t: t["scenarios"].append(first_scenario(t)),
    "scenarios.0.source.trace.edges.0": lambda t: first_scenario(t)["source"]["edges"][0].pop(),
    "Extra inputs are not permitted": lambda t: t.update(more=1),
}


@pytest.mark.parametrize("message", sorted(BREAKS))
def test_what_is_wrong_with_a_file_is_said(message):
    broken = json.loads(FILE.read_text(encoding="utf-8"))
    BREAKS[message](broken)
    with pytest.raises(ValidationError, match=message):
        read_ground_truth(broken)


def test_a_fault_is_of_a_known_kind_and_names_a_member():
    team = {"id": "x", "description": "x", "class": "high", "labels": []}
    for fault in ("explode:lead", "fail:", "fail"):
        bad = team | {"source": {"kind": "team", "team": "star5", "faults": [fault]}}
        with pytest.raises(ValidationError, match="String should match pattern"):
            read_ground_truth({"version": "1", "classes": {}, "scenarios": [bad]})
