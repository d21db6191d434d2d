"""Steps of members, and the places of calls."""

import pytest

from purple_agent.teams.tracing import Place, nested, read_place, steps_of


def test_a_callees_uppermost_steps_come_below_the_call():
    steps = [{"step_id": "1"}, {"step_id": "1.1", "parent_step_id": "1"}, "nonsense"]
    assert nested(steps, parent="0") == [
        {"step_id": "1", "parent_step_id": "0"},
        {"step_id": "1.1", "parent_step_id": "1"},
    ]


@pytest.mark.parametrize("metadata", [{}, {"x": 1}, {"x": {}}])
def test_a_reply_without_a_trace_has_no_steps(metadata):
    assert steps_of(metadata) == []


def test_a_place_counts_the_calls_that_lead_to_it():
    top = Place(caller="user")
    assert top.hops == 0
    assert top.below("lead", 3) == Place(caller="lead", step="3")
    assert top.below("lead", 3).below("orders", 1) == Place(caller="orders", step="3.1")
    assert Place(caller="orders", step="3.1").hops == 2
    assert read_place({"caller": "orders", "step": "3.1"}) == Place(caller="orders", step="3.1")
