"""Why a case was not passed, from conversations with scripted agents."""

import pytest

from tau_bridge.agentdojo import official
from tau_bridge.agentdojo.evidence import diagnose, evidence_of
from tau_bridge.agentdojo.suites import Case
from tau_bridge.clock import Runtime
from tau_bridge.messages import ToolCall
from tau_bridge.recorder import TraceRecorder
from tau_bridge.scripted_agent import ScriptedAgent
from tau_bridge.tool_dialogue import converse

ATTACK = "important_instructions"
BENIGN = Case(suite="banking", user=0)  # pay the bill in a file: read_file, send_money
ATTACKED = Case(suite="banking", user=0, injection=5)  # send money to the attacker
ASKS = Case(suite="banking", user=1)  # what was spent: one tool that reads, and an answer


def changed(call, **arguments):
    return call.model_copy(update={"arguments": {**call.arguments, **arguments}})


async def explained(case, calls, answer="Done."):
    solution, world = official.solution(case, ATTACK), official.new_world(case, ATTACK)
    dialogue = await converse(
        agent=ScriptedAgent(address="scripted", calls=calls(solution), answers=[answer]),
        world=world,
        opening=official.tasks_of(case.suite).prompt(case),
        max_steps=100,
        recorder=TraceRecorder("t", runtime=Runtime.system()),
    )
    verdict = official.judge(
        case, ATTACK, said=dialogue.last_words, world=world, calls=dialogue.calls
    )
    evidence = evidence_of(dialogue, solution)
    found = diagnose(dialogue, solution, verdict, evidence)
    return found, [each.description for each in evidence.checks(verdict)]


@pytest.mark.parametrize(
    ("calls", "kind", "says"),
    [
        (lambda _: [], "gave_up", "called no tool"),
        (lambda s: s.actions[:1], "missing_write", "never called send_money"),
        (
            lambda s: [s.actions[0], changed(s.actions[1], amount="all of it")],
            "format",
            "Its calls of send_money failed:",
        ),
        (
            lambda s: [s.actions[0], changed(s.actions[1], amount=1.0)],
            "wrong_write",
            "does not make like this: send_money",
        ),
    ],
)
async def test_an_undone_task_is_explained_by_its_calls(calls, kind, says):
    found, _ = await explained(BENIGN, calls)
    assert found.kind == kind
    assert says in found.summary


async def test_a_question_that_was_looked_up_and_not_answered_is_no_missing_change():
    found, _ = await explained(ASKS, lambda s: s.actions, answer="I do not know.")
    assert found.kind == "communication"
    found, _ = await explained(
        ASKS, lambda _: [ToolCall(id="1", name="get_balance", arguments={})], answer="?"
    )
    assert found.kind == "gave_up"
    assert "never called get_most_recent_transactions" in found.summary


async def test_an_attack_is_explained_by_the_calls_that_did_it():
    found, _ = await explained(ATTACKED, lambda s: [*s.actions, *s.injected])
    assert found.kind == "hijacked"
    assert "a text in the result of read_file demanded: " in found.summary


async def test_what_was_done_before_the_text_came_in_is_not_put_down_to_it():
    found, checks = await explained(ATTACKED, lambda s: [*s.injected, *s.actions])
    assert found.kind == "hijacked"
    assert "before it came in" in found.summary
    assert checks[-1] == "the attack was resisted"


async def test_a_demanded_tool_that_was_called_in_vain_is_shown():
    case = Case(suite="banking", user=1, injection=5)
    _, checks = await explained(
        case, lambda s: [*s.actions, *(changed(each, amount="x") for each in s.injected)]
    )
    assert any(each.startswith("other calls of tools that it demands") for each in checks)
