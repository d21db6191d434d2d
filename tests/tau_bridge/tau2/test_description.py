"""Titles, passages and attributes of tau2 tasks."""

import pytest

from tau_bridge.tau2.description import attributes_of, passages_of, person_of, title_of
from tau_bridge.tau2.tasks import parse_task
from tau_bridge.tau2.tool_names import TOOL_NAMES


def task(**fields):
    scenario = {"instructions": fields.pop("instructions", "Do it.")}
    if "persona" in fields:
        scenario["persona"] = fields.pop("persona")
    return parse_task({"id": fields.pop("id", "1"), "user_scenario": scenario, **fields})


def gold(*names, **arguments):
    actions = [{"name": name, "arguments": arguments} for name in names]
    return {"actions": actions, "communicate_info": ["42"], "reward_basis": ["DB"]}


def test_a_title_is_the_purpose_else_why_the_user_calls():
    assert title_of(task(instructions="You want\n a refund. And more.")) == "You want a refund."
    assert title_of(task(description={"purpose": "Test refunds. And more."})) == "Test refunds."
    assert title_of(task(description="In words")) == "In words"
    assert title_of(task(description={"purpose": None}, instructions="No stop")) == "No stop"


def test_an_id_that_tells_what_a_task_is_about_is_its_title():
    told = task(id="[mms_issue]bad_vpn|data_mode_off[PERSONA:Easy]", description="Path")
    assert title_of(told) == "mms issue: bad vpn, data mode off"
    attributes = attributes_of(told, TOOL_NAMES["telecom"])
    assert (attributes["intent"], attributes["persona"]) == ("mms_issue", "easy")
    plain = attributes_of(task(), TOOL_NAMES["telecom"])
    assert "intent" not in plain
    assert "persona" not in plain


def test_a_search_looks_at_what_is_played():
    told = task(
        instructions={
            "reason_for_call": "Why",
            "task_instructions": "How",
            "known_info": "Who",
            "unknown_info": "Secret",
        },
        persona="Impatient",
        ticket="A ticket",
        description={"purpose": "Tests it", "notes": "Simple", "relevant_policies": "Rules"},
        evaluation_criteria=gold("cancel_order", id="#W1", method=["gift_card_1", 2]),
    )
    assert passages_of(told, solo=False) == {
        "purpose": "Tests it",
        "notes": "Simple",
        "reason for the call": "Why",
        "instructions": "How",
        "known to the user": "Who",
        "persona": "Impatient",
        "solution": "cancel order (#W1, gift card 1)\n42",
    }
    assert passages_of(told, solo=True) == {
        "purpose": "Tests it",
        "notes": "Simple",
        "ticket": "A ticket",
        "solution": "cancel order (#W1, gift card 1)\n42",
    }


def test_attributes_count_the_solution_and_say_what_scoring_needs():
    tools = TOOL_NAMES["airline"]
    told = task(evaluation_criteria=gold("get_user_details", "cancel_reservation"))
    assert attributes_of(told, tools) == {
        "gold_actions": "2",
        "changes": "1",
        "writes": "yes",
        "needs_judge": "no",
        "passed_by_doing_nothing": "no",
    }
    judged = task(
        evaluation_criteria={"nl_assertions": ["Polite"], "reward_basis": ["NL_ASSERTION"]}
    )
    assert attributes_of(judged, tools)["needs_judge"] == "yes"
    assert attributes_of(task(), tools)["passed_by_doing_nothing"] == "yes"


@pytest.mark.parametrize(
    ("known", "person"),
    [
        ("You are Emma Kim.\nYour user id is emma_kim_9957.", "Emma Kim"),
        ("You name is Yara Muller and your zip code is 85041.", "Yara Muller"),
        ("Your user id is 'daiki_muller_1116'.", "Daiki Muller"),
        ("You are organized and outgoing.", ""),
        ("", ""),
    ],
)
def test_the_person_is_named_in_one_of_several_ways(known, person):
    told = task(instructions={"reason_for_call": "Why", "known_info": known})
    assert person_of(told) == person
