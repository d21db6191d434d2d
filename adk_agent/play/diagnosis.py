"""Joins what the bridge knows of a trial with the rules that say why it did not pass."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evals.diagnosis import (
    BusinessConduct,
    Call,
    CallDifference,
    Conduct,
    Departure,
    Diagnosis,
    Path,
    Reply,
    Turn,
    diagnose_broken,
    diagnose_business,
    diagnose_conversation,
    diagnosis_of,
)
from evals.outcome import Component, Failed, Outcome, Scored, TaskResult, Unscored
from evals.reward import is_success
from evals.trace import CallType, InteractionStep, Provenance, Trace
from tau_bridge.business.scenarios import Scenario
from tau_bridge.business.tools import Insert, SetFields
from tau_bridge.business.world import BusinessWorld
from tau_bridge.tau2.agents import DONE
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.gold_path import CallGap, GoldComparison, compare_to_gold
from tau_bridge.tau2.matching import MadeCall
from tau_bridge.tau2.messages import AssistantMessage, Message, UserMessage
from tau_bridge.tau2.tasks import Instructions, Task
from tau_bridge.wire import example_replies

logger = logging.getLogger(__name__)

MOST_CHARS = 2_000
"""Of the arguments of one call, as JSON; longer ones are told by their length."""


def diagnose_trial(
    outcome: Outcome,
    result: TaskResult | None,
    explain: Callable[[TaskResult], Diagnosis],
    *,
    label: str,
) -> Diagnosis | None:
    """Why a trial did not pass; None where it passed, or where nobody can say whether it did.

    An unscored trial is diagnosed where a component that counts is 0 already: it cannot pass,
    whatever the missing judge would say. Nothing that breaks in here reaches the trial.

    Args:
        outcome: What the trial came to.
        result: Its components, if they could be computed.
        explain: The rules for its kind of task, asked where there are components to explain.
        label: The trial in words, for the log.
    """
    try:
        if isinstance(outcome, Failed):
            return diagnose_broken(outcome)
        if isinstance(outcome, Scored) and outcome.agent_error is not None:
            return diagnose_broken(outcome.agent_error)
        if result is None or not _did_not_pass(outcome, result):
            return None
        return explain(result)
    except Exception as error:
        logger.exception("the diagnosis of %s broke", label)
        text = f"the diagnosis itself failed: {type(error).__name__}: {error}"
        side = outcome.fault if isinstance(outcome, Failed) else "harness"
        return diagnosis_of([], side=side, findings=[text])


def _did_not_pass(outcome: Outcome, result: TaskResult) -> bool:
    if isinstance(outcome, Scored):
        return not is_success(outcome.value)
    return isinstance(outcome, Unscored) and any(
        component.name in result.basis and _is_zero(component) for component in result.components
    )


def _is_zero(component: Component) -> bool:
    return isinstance(component.outcome, Scored) and not is_success(component.outcome.value)


# -- τ²-bench ------------------------------------------------------------------------------------


def diagnose_played(
    domain: Domain,
    task: Task,
    result: TaskResult,
    messages: Sequence[Message],
    *,
    termination: str,
    solo: bool = False,
    replies: Mapping[int, tuple[str, ...]] | None = None,
    trace: Trace | None = None,
) -> Diagnosis:
    """Why a τ²-bench conversation did not pass; its calls are repeated for it.

    Args:
        domain: The task's domain.
        task: What was played.
        result: Its components, and which of them count.
        messages: The conversation from its start.
        termination: Why it ended.
        solo: It was played without a user.
        replies: The repairs of each of the agent's replies, by the place of its message; None
            where nothing is known of them, as in a recorded conversation.
        trace: Where the step of the departure is looked for.

    Raises:
        tau_bridge.errors.HarnessError: The task's data do not fit.
    """
    compared = compare_to_gold(
        domain, task, messages, solo=solo, check_actions="ACTION" in result.basis
    )
    conduct = Conduct(
        turns=_turns(messages),
        calls=[_call(made, domain) for made in compared.made],
        instructions=_instructions(task),
        replies=[
            Reply(text=messages[place].content or "", repairs=kinds)
            for place, kinds in (replies or {}).items()
        ],
        expected_replies=_expected_replies(domain, solo=solo) if replies else (),
    )
    path = _path(compared, task, trace)
    return diagnose_conversation(result, conduct, path, termination=termination)


def _expected_replies(domain: Domain, *, solo: bool) -> tuple[str, ...]:
    call, respond = example_replies(domain.agent_schemas)
    return call, json.dumps({"name": DONE, "arguments": {}}) if solo else respond


def _turns(messages: Sequence[Message]) -> list[Turn]:
    return [
        Turn(speaker=message.role, text=message.text, message=index)
        for index, message in enumerate(messages)
        if isinstance(message, AssistantMessage | UserMessage) and message.text
    ]


def _call(made: MadeCall, domain: Domain) -> Call:
    return Call(
        name=made.call.name,
        arguments=made.call.arguments,
        requestor=made.call.requestor,
        error=made.error,
        result=made.result,
        writes=domain.tool_names.changes_state(made.call.name),
        message=made.message,
    )


def _instructions(task: Task) -> str:
    told = task.user_scenario.instructions
    if not isinstance(told, Instructions):
        return told
    parts = (told.reason_for_call, told.known_info, told.unknown_info, told.task_instructions)
    return "\n".join(part for part in parts if part)


def _path(compared: GoldComparison, task: Task, trace: Trace | None) -> Path:
    criteria = task.evaluation_criteria
    actions = (criteria.actions if criteria is not None else None) or ()
    return Path(
        differences=[_difference(gap) for gap in compared.gaps],
        departure=_departure(compared, trace),
        gold_writes=compared.gold_writes,
        gold_names=frozenset(action.name for action in actions),
        failed=frozenset(place for place, gap in enumerate(compared.gaps) if gap.failed),
        reads=frozenset(place for place, gap in enumerate(compared.gaps) if not gap.writes),
        other_order=compared.other_order,
        unmet_by_gold=compared.unmet_by_gold,
    )


def _difference(gap: CallGap) -> CallDifference:
    return CallDifference(
        how=gap.how,
        name=gap.name[:200],
        requestor=gap.requestor,
        arguments=_bounded(gap.arguments),
        expected=gap.expected,
        differing=tuple(name[:200] for name in gap.differing[:50]),
        message=gap.message,
    )


def _bounded(arguments: dict[str, Any] | None) -> dict[str, Any] | None:
    """Arguments that an agent gave, unless they are too long to be repeated."""
    if arguments is None:
        return None
    length = len(json.dumps(arguments, default=str))
    return arguments if length <= MOST_CHARS else {"...": f"{length} characters of JSON"}


def _departure(compared: GoldComparison, trace: Trace | None) -> Departure | None:
    left = compared.departure
    if left is None:
        return None
    step = None if trace is None else _step_of(compared.made, left, trace)
    return Departure(message=left.message, call=left.call.name, step_id=step)


def _step_of(made: Sequence[MadeCall], wanted: MadeCall, trace: Trace) -> str | None:
    """The step that recorded a call: calls and steps of one tool come in the same order."""
    same = [call for call in made if call.call.name == wanted.call.name]
    steps = [step for step in trace.steps if _ran(step, wanted.call.name)]
    place = same.index(wanted)
    return steps[place].step_id if len(steps) == len(same) else None


def _ran(step: InteractionStep, tool: str) -> bool:
    return (
        step.call_type is CallType.TOOL
        and step.provenance is Provenance.OBSERVED
        and step.callee == tool
        and step.name == tool
    )


# -- business scenarios --------------------------------------------------------------------------


def diagnose_scenario(
    world: BusinessWorld, result: TaskResult, messages: Sequence[Message]
) -> Diagnosis:
    """Why a business scenario did not come to what was expected.

    Args:
        world: As the agent left it.
        result: Its components.
        messages: The conversation.
    """
    conduct = Conduct(
        turns=_turns(messages), calls=_business_calls(world), handing_over=frozenset()
    )
    return diagnose_business(result, _business_conduct(result, world.scenario, conduct))


def _business_calls(world: BusinessWorld) -> list[Call]:
    writing = {
        tool.name for tool in world.scenario.tools if isinstance(tool.effect, SetFields | Insert)
    }
    return [
        Call(
            name=made.tool,
            arguments=made.arguments,
            error=made.error is not None,
            result=made.error or json.dumps(made.result),
            writes=made.tool in writing,
        )
        for made in world.calls
    ]


def _business_conduct(result: TaskResult, scenario: Scenario, conduct: Conduct) -> BusinessConduct:
    """The checks in the order in which they are made: calls, approvals, then the handing over."""
    expected = scenario.expected
    checks = {component.name: component.checks for component in result.components}
    policy, state = checks.get("POLICY", ()), checks.get("STATE", ())
    calls = len(expected.forbidden_calls)
    approvals = calls + len(expected.approvals)
    over = any(check.met is False for check in policy[approvals:])
    *changes, nothing_else = state
    return BusinessConduct(
        conduct=conduct,
        forbidden=[_bare(check.description) for check in policy[:calls] if not check.met],
        not_asked=[_bare(check.description) for check in policy[calls:approvals] if not check.met],
        handed_over=over and expected.outcome != "escalate",
        kept=over and expected.outcome == "escalate",
        undone=[check.description for check in changes if not check.met],
        also_changed=None if nothing_else.met else nothing_else.reason,
        expects_changes=bool(expected.changes),
    )


def _bare(description: str) -> str:
    for beginning in ("does not call ", "asks for an approval of "):
        description = description.removeprefix(beginning)
    return description
