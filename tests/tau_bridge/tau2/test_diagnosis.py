"""Diagnoses of conversations on a to-do list: calls, their steps in the trace, and what is cut."""

from datetime import UTC, datetime, timedelta

import pytest

from evals.outcome import Check, Component, Scored, TaskResult
from evals.trace import CallType, InteractionStep, Provenance, Trace
from tau_bridge.messages import AssistantMessage, ToolCall, UserMessage
from tau_bridge.tau2.diagnosis import MOST_CHARS, diagnose_played
from tau_bridge.tau2.replay import new_world
from tau_bridge.tau2.tasks import parse_task

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FAILED = TaskResult(
    basis=("DB",),
    components=(Component(name="DB", outcome=Scored(value=0.0, produced_by="rules")),),
)
TASK = parse_task(
    {
        "id": "t",
        "user_scenario": {"instructions": "Have A made."},
        "evaluation_criteria": {
            "actions": [{"name": "create_task", "arguments": {"user_id": "user_1", "title": "A"}}]
        },
    }
)


def step(number, tool="create_task", **more):
    given = {
        "step_id": f"s{number}",
        "trace_id": "t",
        "call_type": CallType.TOOL,
        "caller": "agent",
        "callee": tool,
        "name": tool,
        "start_time": NOON + timedelta(seconds=number),
        "end_time": NOON + timedelta(seconds=number + 1),
    }
    return InteractionStep(**{**given, **more})


@pytest.fixture
def diagnose(mock):
    def diagnose(*titles, steps=None):
        """Create tasks of these titles, after a look at the users."""
        world = new_world(mock, TASK)
        calls = [("get_users", {})]
        calls += [("create_task", {"user_id": "user_1", "title": title}) for title in titles]
        messages = [AssistantMessage(content="Hi!"), UserMessage(content="Have A made.")]
        for number, (name, arguments) in enumerate(calls):
            call = ToolCall(id=f"c{number}", name=name, arguments=arguments)
            messages += [AssistantMessage(tool_calls=(call,)), world.respond(call)]
        trace = None if steps is None else Trace(trace_id="t", steps=tuple(steps))
        return diagnose_played(mock, TASK, FAILED, messages, termination="user_stop", trace=trace)

    return diagnose


def test_the_step_of_a_divergence_is_that_of_the_same_call_of_its_tool(diagnose):
    steps = [step(0, "get_users"), step(1), step(2), step(3)]
    assert diagnose("A", "B", "C", steps=steps).departure.step_id == "s2"
    assert diagnose("B", "A", "C", steps=steps).departure.step_id == "s1"


@pytest.mark.parametrize(
    "other",
    [
        {"call_type": CallType.AGENT},
        {"provenance": Provenance.REPORTED},
        {"callee": "tools"},
        {"name": "task"},
        {"callee": "update_task_status", "name": "update_task_status"},
    ],
)
def test_steps_that_are_no_observed_call_of_the_tool_do_not_count(diagnose, other):
    assert diagnose("B", steps=[step(0, **other), step(1)]).departure.step_id == "s1"


def test_a_divergence_has_no_step_where_calls_and_steps_are_not_the_same(diagnose):
    assert diagnose("B", "C", steps=[step(1)]).departure.step_id is None
    assert diagnose("B", steps=[step(1), step(2)]).departure.step_id is None
    found = diagnose("B")
    assert (found.departure.call, found.departure.message) == ("create_task", 4)
    assert found.departure.step_id is None


def test_arguments_that_are_too_long_are_told_by_their_length(diagnose):
    around = len('{"user_id": "user_1", "title": ""}')
    fits, too_long = ("B" * (MOST_CHARS - around + more) for more in (0, 1))
    [kept] = diagnose(fits).calls
    assert (kept.how, kept.arguments["title"]) == ("differs", fits)
    [cut] = diagnose(too_long).calls
    assert cut.arguments == {"...": f"{MOST_CHARS + 1} characters of JSON"}


@pytest.mark.parametrize(("has_gold", "kind"), [(True, "gave_up"), (False, "communication")])
def test_an_agent_that_declines_gave_up_only_where_the_task_has_gold_calls(mock, has_gold, kind):
    criteria = {"actions": [{"name": "get_users", "arguments": {}}]} if has_gold else None
    task = parse_task(
        {
            "id": "t",
            "user_scenario": {"instructions": "Ask for all users."},
            "evaluation_criteria": criteria,
        }
    )
    unsaid = TaskResult(
        basis=("COMMUNICATE",),
        components=(
            Component(
                name="COMMUNICATE",
                outcome=Scored(value=0.0, produced_by="rules"),
                checks=(Check(description="Ada", met=False),),
            ),
        ),
    )
    declined = [
        UserMessage(content="Who is there?"),
        AssistantMessage(content="I cannot tell you that."),
    ]
    found = diagnose_played(mock, task, unsaid, declined, termination="user_stop")
    assert found.kind == kind


def test_equal_calls_in_a_row_are_found_among_the_calls_that_were_made(diagnose, mock):
    call = ToolCall(id="c", name="get_users", arguments={})
    messages = [AssistantMessage(content="Hi!"), UserMessage(content="Have A made.")]
    world = new_world(mock, TASK)
    for _ in range(3):
        messages += [AssistantMessage(tool_calls=(call,)), world.respond(call)]
    found = diagnose_played(mock, TASK, FAILED, messages, termination="user_stop")
    assert (found.kind, found.also) == ("loop", ("missing_write",))
