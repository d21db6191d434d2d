"""Scenarios that did not come to what was expected."""

import pytest

from evals.diagnosis import Behaviour, Call
from tau_bridge.business.diagnosis import BusinessBehaviour, diagnose_business
from tests.evals.diagnosis.plays import READ, component, result, said

BUSINESS = result(component("STATE"), component("POLICY"), component("COMMUNICATE"))


@pytest.mark.parametrize(
    ("known", "kinds"),
    [
        ({"forbidden": ["pay"], "also_changed": "paid"}, ("policy", "wrong_write")),
        ({"also_changed": "paid", "undone": ["a"]}, ("wrong_write", "missing_write")),
        ({"also_changed": "paid", "expects_changes": False}, ("policy",)),
        ({"handed_over": True, "undone": ["a"]}, ("gave_up", "missing_write")),
        ({"undone": ["a"]}, ("missing_write",)),
        ({"not_asked": ["a"], "undone": ["b"]}, ("policy", "missing_write")),
        ({"kept": True}, ("policy",)),
        ({}, ("undetermined",)),
    ],
)
def test_a_scenario_is_diagnosed_by_its_policy_first_then_by_its_records(known, kinds):
    found = diagnose_business(
        BUSINESS, BusinessBehaviour(behaviour=Behaviour(calls=[READ]), **known)
    )
    assert (found.kind, *found.also) == kinds


def test_an_agent_that_declines_a_scenario_gave_up_unless_it_wrote():
    declined = said("I am unable to do that.")
    idle = BusinessBehaviour(behaviour=Behaviour(turns=declined), undone=["a"])
    assert diagnose_business(BUSINESS, idle).kind == "gave_up"
    wrote = Call(name="pay", arguments={}, writes=True)
    tried = BusinessBehaviour(behaviour=Behaviour(turns=declined, calls=[wrote]), undone=["a"])
    assert diagnose_business(BUSINESS, tried).kind == "missing_write"
