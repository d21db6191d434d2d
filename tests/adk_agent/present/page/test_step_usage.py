"""The tokens and the cost of a trial, by who told them."""

from adk_agent.present.page.step_usage import INSIDE, OWN, REPLIES, usage_rows
from evals.trace import ASSESSOR, CallType, Provenance, Trace
from tau_bridge.completion import COMPLETION
from tests.adk_agent.present.page.kept_run import step


def rows(*steps):
    return {each.pop("who"): each for each in usage_rows(Trace(trace_id="t", steps=steps))}


def test_replies_steps_inside_and_own_models_are_never_added_up():
    found = rows(
        step(1, ASSESSOR, "a", total_tokens=100, cost=0.25),
        step(2, ASSESSOR, "a", total_tokens=50, cost=0.25),
        step(3, ASSESSOR, "a"),
        step(4, "a", "b", total_tokens=70, provenance=Provenance.REPORTED),
        step(5, "user", "model", name=COMPLETION, call_type=CallType.TOOL, total_tokens=9),
    )
    assert found == {
        REPLIES: {"tokens": 150, "cost": 0.5, "told": 2, "steps": 3},
        INSIDE: {"tokens": 70, "cost": None, "told": 1, "steps": 1},
        OWN: {"tokens": 9, "cost": None, "told": 1, "steps": 1},
    }


def test_what_a_step_encloses_is_not_counted_twice():
    reported = {"provenance": Provenance.REPORTED}
    found = rows(
        step(1, "lead", "a", total_tokens=100, **reported),
        step(2, "a", "b", parent_step_id="t.1", **reported),
        step(3, "b", "model", parent_step_id="t.2", total_tokens=60, **reported),
        step(4, "lead", "c", parent_step_id="t.4", total_tokens=1, **reported),
    )
    assert (found[INSIDE]["tokens"], found[INSIDE]["told"]) == (101, 3)


def test_without_any_figure_there_is_no_row():
    assert rows(step(1, ASSESSOR, "a")) == {}
