"""IntentDraft: an intent as a model writes it down, and the intent that it means."""

import pytest
from pydantic import ValidationError

from adk_agent.core.plan import Participant, Selection
from adk_agent.requests.draft import IntentDraft, intent_of
from adk_agent.requests.intent import Cancel, Changes, Compare, Export, ListThings, Repeat, Why
from adk_agent.requests.refusal import Refusal

REGISTERED = {"shop-bot": "http://127.0.0.1:7001"}


def read(intent, **fields):
    return intent_of(IntentDraft.model_validate({"intent": intent, **fields}), REGISTERED)


def selection(**fields):
    request = read("evaluate", agents=["builtin:null"], selections=[{"domain": "mock", **fields}])
    return request.request.selections[0]


def test_agents_are_addresses_in_normal_form():
    request = read("evaluate", agents=["localhost:9010", "Shop-Bot", "builtin:null"]).request
    assert request.participants == (
        Participant(role="agent_1", address="http://localhost:9010"),
        Participant(role="agent_2", address="http://127.0.0.1:7001"),
        Participant(role="null", address="builtin:null"),
    )
    assert request.entry is None


def test_a_team_has_roles_and_an_entry():
    agents = [
        {"address": "localhost:1", "role": "planner"},
        {"address": "localhost:2", "role": "coder"},
    ]
    request = read("evaluate", agents=agents, team=True).request
    assert [each.role for each in request.participants] == ["planner", "coder"]
    assert request.entry == "all"
    assert read("evaluate", agents=agents, team=True, entry="coder").request.entry == "coder"


def test_tasks_may_be_bare_ids_or_have_reasons():
    chosen = selection(tasks=["a", {"id": "b", "reason": "bags"}, 7])
    assert (chosen.task_ids, chosen.reasons) == (("a", "b", "7"), {"b": "bags"})


def test_a_topic_with_attributes_is_left_to_find_tasks():
    chosen = selection(
        about="bags", where=[{"name": "writes", "value": "no"}], num_tasks=3, without=["4"]
    )
    assert chosen == Selection(
        domain="mock", about="bags", where={"writes": "no"}, num_tasks=3, without=("4",)
    )


def test_as_many_tasks_are_chosen_as_are_asked_for():
    with pytest.raises(Refusal, match="2 tasks are chosen"):
        selection(tasks=["a", "b"], num_tasks=5)


@pytest.mark.parametrize(
    "fields",
    [{"max_cost": 5}, {"agents": [{"address": "a", "key": "k"}]}, {"num_trials": "many"}],
)
def test_what_the_draft_has_no_field_for_is_an_error(fields):
    with pytest.raises(ValidationError):
        read("evaluate", **fields)


def test_a_number_out_of_range_is_an_error():
    with pytest.raises(ValidationError):
        read("evaluate", num_trials=0)


def test_a_repetition_takes_its_changes_from_the_same_fields():
    assert read("repeat") == Repeat()
    assert read("repeat_changed", which="failed") == Repeat(intent="repeat_changed", which="failed")
    changed = read(
        "repeat", agents=["http://echo-bot:9010"], num_trials=5, selections=[{"domain": "mock"}]
    )
    assert changed.intent == "repeat_changed"
    assert changed.changes == Changes(agents=("http://echo-bot:9010",), num_trials=5, domain="mock")


def test_follow_ups_take_their_own_fields():
    assert read("why", task_id="3", domain="mock") == Why(task_id="3", domain="mock")
    assert read("compare", run_ids=["a", "b"]) == Compare(run_ids=("a", "b"))
    assert read("cancel", everything=True) == Cancel(everything=True)
    assert read("export", format="junit", run_ids=["a"]) == Export(run_id="a", format="junit")
    assert read("list", what="tasks", about="bags") == ListThings(what="tasks", about="bags")


@pytest.mark.parametrize("intent", ["ask", "refuse", "explain", "list"])
def test_an_intent_without_what_it_needs_is_an_error(intent):
    with pytest.raises(ValueError, match="needs"):
        read(intent)
