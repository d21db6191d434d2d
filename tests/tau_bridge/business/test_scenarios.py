"""The bundled scenarios, and files that cannot be used."""

import json
from collections import Counter
from typing import get_args

import pytest

from evals.outcome import Scored
from tau_bridge.business.scenarios import (
    MAX_TURNS,
    ExpectedOutcome,
    ProcessType,
    read_scenarios,
    scenario,
    scenarios,
    scenarios_revision,
)
from tau_bridge.business.scoring import BASIS, EFFICIENCY, grade
from tau_bridge.business.user import ScriptedUser
from tau_bridge.business.world import BusinessWorld
from tau_bridge.errors import DataError, UnknownTaskError

SETS = {"kind": "set", "table": "orders", "key": "order_id", "fields": {}}
REFUSAL = "Hello! I am sorry, but I cannot help with that."


def values(world, answers):
    return {
        component.name: component.outcome.value
        for component in grade(world, answers).components
        if isinstance(component.outcome, Scored)
    }


def played_by_gold(each):
    """What the gold calls and answers come to, and the messages of the user that were needed."""
    world, user = BusinessWorld(each), ScriptedUser(each)
    line = None
    for number, turn in enumerate(each.gold):
        if number:
            assert line is not None, "the user says nothing before the gold turn"
            world.decide(line.decides)
        for call in turn.calls:
            world.call(call.tool, call.params)
        line = user.next(turn.say)
    assert line is None, "the user waits for a turn that the gold way does not have"
    return values(world, [turn.say for turn in each.gold]), world


def test_every_process_has_scenarios_and_every_outcome_too():
    processes = Counter(each.process for each in scenarios().values())
    assert set(processes) == set(get_args(ProcessType))
    assert min(processes.values()) >= 4
    assert len(scenarios()) >= 40
    assert sum(each.has_rules for each in scenarios().values()) >= 30
    outcomes = Counter(each.expected.outcome for each in scenarios().values())
    assert set(outcomes) == set(get_args(ExpectedOutcome))


def test_the_first_ten_scenarios_show_every_process():
    assert {each.process for each in list(scenarios().values())[:10]} == set(get_args(ProcessType))


@pytest.mark.parametrize("scenario_id", scenarios())
def test_the_gold_way_solves_a_scenario_and_calls_what_there_is(scenario_id):
    each = scenario(scenario_id)
    components, world = played_by_gold(each)
    assert components == dict.fromkeys((*BASIS, EFFICIENCY), 1.0)
    failing = {tool.name for tool in each.tools if tool.fails}
    assert [call.error for call in world.calls if call.error and call.tool not in failing] == []


def test_saying_no_or_repeating_the_user_passes_nothing():
    for each in scenarios().values():
        user = " ".join([each.opening, *(line.text for line in each.lines)])
        for said in (REFUSAL, user):
            assert 0.0 in values(BusinessWorld(each), [said]).values(), each.id


def test_an_opening_tells_its_scenario_from_all_others():
    openings = [each.opening for each in scenarios().values()]
    assert len(set(openings)) == len(openings)


def test_a_scenario_is_found_by_its_id_alone():
    known = next(iter(scenarios()))
    assert scenario(known).id == known
    with pytest.raises(UnknownTaskError, match="business"):
        scenario("bp00")


def test_the_revision_is_that_of_the_content():
    assert scenarios_revision() == scenarios_revision()
    assert scenarios_revision().startswith("sha256:")


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"gold": [{"calls": [{"tool": "drop"}], "say": "no"}]}, "the tool 'drop'"),
        (
            {
                "expected": {
                    "outcome": "allow",
                    "must_say": [],
                    "changes": [{"table": "wares", "fields": {}}],
                }
            },
            "the table 'wares'",
        ),
        (
            {
                "expected": {
                    "outcome": "allow",
                    "must_say": [],
                    "changes": [{"table": "orders", "id": "O-9", "fields": {}}],
                }
            },
            "the row 'O-9'",
        ),
        ({"tools": ["escalate", "escalate"]}, "two tools of one name"),
        ({"tools": ["unheard"]}, "scenario 'one' names the shared tool 'unheard'"),
        (
            {
                "expected": {
                    "outcome": "allow",
                    "must_say": [],
                    "changes": [{"table": "orders", "id": "O-1", "fields": {"colour": "red"}}],
                }
            },
            "the field 'colour'",
        ),
        (
            {
                "expected": {
                    "outcome": "block",
                    "must_say": [],
                    "forbidden_calls": [{"tool": "set_order", "where": {"state": "open"}}],
                }
            },
            "the parameter of set_order 'state'",
        ),
        (
            {"gold": [{"calls": [{"tool": "get_order", "params": {"id": "O-1"}}], "say": "no"}]},
            "the parameter of get_order 'id'",
        ),
        ({"process": "gardening"}, "process"),
        ({"surprise": 1}, "surprise"),
        ({"lines": [{"text": "and?"}] * MAX_TURNS}, "lines"),
    ],
)
def test_a_file_whose_scenario_does_not_fit_together_is_refused(make_content, changes, named):
    with pytest.raises(DataError, match="the business scenarios cannot be read") as refused:
        read_scenarios(make_content(**changes))
    assert named in str(refused.value)


@pytest.mark.parametrize(
    ("tool", "named"),
    [
        ({"effect": {"kind": "get", "table": "wares", "key": "order_id"}}, "the table 'wares'"),
        ({"effect": {"kind": "get", "table": "orders", "key": "id"}}, "the parameter 'id'"),
        ({"effect": {"kind": "get_approval"}}, "the parameter 'approval_id'"),
        ({"effect": {"kind": "request_approval"}}, "the parameter 'subject_id'"),
        ({"effect": {"kind": "escalate"}}, "the parameter 'subject_id'"),
        (
            {"effect": {"kind": "get", "table": "orders", "key": "status"}},
            "the required parameter 'status'",
        ),
        (
            {"effect": {"kind": "find", "table": "orders", "key": "order_id", "by": ["item"]}},
            "the parameter 'item'",
        ),
        ({"effect": {**SETS, "fields": {"status": "$state"}}}, "the parameter 'state'"),
        ({"effect": {**SETS, "needs": {"colour": "red"}}}, "the field 'colour'"),
        ({"drift": {"state": "status_code"}}, "the parameter 'state'"),
        ({"drift": {"status": "pieces"}}, "two parameters of one name"),
        ({"input_schema": {"properties": {}, "required": ["order_id"]}}, "'order_id'"),
        ({"input_schema": {"type": "array"}}, "tools.1.type"),
        ({"input_schema": {"properties": {"order_id": {"type": "colour"}}}}, "order_id"),
        ({"input_schema": {"properties": {"order_id": {"enum": "red"}}}}, "order_id"),
        (
            {"input_schema": {"properties": {"order_id": {"type": "string", "minimum": 1}}}},
            "a minimum is for numbers",
        ),
    ],
)
def test_a_tool_that_would_break_when_it_is_called_is_refused(make_content, tool, named):
    content = make_content()
    content["scenarios"][0]["tools"][1] |= tool
    with pytest.raises(DataError, match="cannot be read") as refused:
        read_scenarios(content)
    assert named in str(refused.value)


def test_a_tool_that_refers_to_a_table_which_is_not_there_is_refused(make_content):
    content = make_content()
    content["scenarios"][0]["tools"][3]["effect"]["refers"] = {"like": "wares"}
    with pytest.raises(DataError, match="the table 'wares'"):
        read_scenarios(content)


def test_two_scenarios_of_one_id_are_refused(make_content):
    content = make_content()
    content["scenarios"] *= 2
    with pytest.raises(DataError, match="same id"):
        read_scenarios(content)


@pytest.mark.parametrize("content", [None, [], "text", {}, {"scenarios": [1]}])
def test_what_is_no_file_of_scenarios_is_refused(content):
    with pytest.raises(DataError):
        read_scenarios(content)


def test_a_scenario_survives_being_written_as_json():
    for each in scenarios().values():
        assert json.loads(each.model_dump_json())["id"] == each.id
