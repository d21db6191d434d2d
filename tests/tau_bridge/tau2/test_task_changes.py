"""Two definitions of a task: what differs, and what of it decides about a reward."""

import pytest

from tau_bridge.tau2.task_changes import changed_parts, deciding
from tau_bridge.tau2.tasks import parse_task

CALL = {"action_id": "1", "name": "create_task", "arguments": {"title": "a"}}


def task(**changes):
    criteria = {"actions": [CALL], "reward_basis": ["DB"], **changes.pop("criteria", {})}
    return parse_task(
        {
            "id": "1",
            "user_scenario": {"instructions": "Want a task."},
            "evaluation_criteria": criteria,
            **changes,
        }
    )


def test_a_task_is_the_same_as_itself_whatever_describes_it():
    assert changed_parts(task(), task(description={"purpose": "Other words."})) == ()


@pytest.mark.parametrize(
    "spelt",
    [
        {"initial_state": {"initialization_data": None, "message_history": []}},
        {"ticket": ""},
        {"criteria": {"communicate_info": [], "nl_assertions": None}},
    ],
)
def test_absent_null_and_empty_parts_are_the_same(spelt):
    assert changed_parts(task(), task(**spelt)) == ()


def test_no_actions_are_something_else_than_null_since_null_replays_nothing():
    before, now = task(criteria={"actions": None}), task(criteria={"actions": []})
    assert changed_parts(before, now) == ("evaluation_criteria.actions",)


def test_the_order_of_the_basis_does_not_matter():
    before = task(criteria={"reward_basis": ["DB", "COMMUNICATE"]})
    now = task(criteria={"reward_basis": ["COMMUNICATE", "DB"]})
    assert changed_parts(before, now) == ()


def test_an_earlier_conversation_is_the_same_whatever_empty_keys_it_is_written_with():
    said = {"role": "user", "content": "Hello."}
    before = task(initial_state={"message_history": [said]})
    now = task(initial_state={"message_history": [{**said, "tool_calls": None, "cost": 0.1}]})
    assert changed_parts(before, now) == ()
    other = task(initial_state={"message_history": [{**said, "content": "Bye."}]})
    assert changed_parts(before, other) == ("initial_state.message_history",)


def test_a_broken_earlier_conversation_is_compared_as_it_is_written():
    broken = task(initial_state={"message_history": [{"role": "nobody"}]})
    assert changed_parts(broken, broken) == ()
    assert changed_parts(broken, task()) == ("initial_state.message_history",)


@pytest.mark.parametrize(
    ("change", "part", "decides"),
    [
        ({"criteria": {"actions": []}}, "evaluation_criteria.actions", True),
        (
            {"initial_state": {"initialization_data": {"agent_data": {"a": 1}}}},
            "initial_state.initialization_data",
            True,
        ),
        ({"user_scenario": {"instructions": "No."}}, "user_scenario.instructions", False),
        ({"ticket": "Please."}, "ticket", False),
        ({"criteria": {"nl_assertions": ["Kind."]}}, "evaluation_criteria.nl_assertions", False),
        ({"criteria": {"communicate_info": ["7"]}}, "evaluation_criteria.communicate_info", False),
    ],
)
def test_only_what_the_reward_counts_decides(change, part, decides):
    before, now = task(), task(**change)
    assert changed_parts(before, now) == (part,)
    assert deciding((part,), before, now) == ((part,) if decides else ())


def test_statements_decide_where_the_reward_counts_them_before_or_now():
    before = task(criteria={"reward_basis": ["DB", "NL_ASSERTION"], "nl_assertions": ["Kind."]})
    parts = changed_parts(before, task())
    assert parts == ("evaluation_criteria.nl_assertions", "evaluation_criteria.reward_basis")
    assert deciding(parts, before, task()) == parts
