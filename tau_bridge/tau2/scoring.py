"""Scoring: the components of a task's reward, from what was said and done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evals.outcome import Check, Component, Failed, Scored, TaskResult, Unscored
from tau_bridge.errors import HarnessError
from tau_bridge.messages import AssistantMessage, Message, ToolCall, UserMessage
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.environment import Environment
from tau_bridge.tau2.replay import apply_gold, message_history, set_state
from tau_bridge.tau2.tasks import (
    EnvAssertion,
    EvaluationCriteria,
    GoldAction,
    OfficialComponentName,
    Task,
)

REGULAR_ENDS = frozenset({"agent_stop", "user_stop"})
"""The termination reasons after which a conversation counts."""

_RULES = "rules"


def score_components(
    domain: Domain,
    task: Task,
    messages: Sequence[Message],
    *,
    termination: str,
    solo: bool = False,
    nl_verdicts: Mapping[str, bool] | None = None,
    nl_produced_by: str = "recorded",
    lenient: bool = True,
) -> TaskResult:
    """Score all components of one played task, whether its reward counts them or not.

    Pure CPU work of some milliseconds. Fresh environments are brought to where the conversation,
    and the gold path, lead; the world of the conversation itself is not needed.

    Args:
        domain: The task's domain.
        task: What was played.
        messages: The conversation from its start, including the task's own message history.
        termination: Why it ended; anything but `agent_stop` and `user_stop` is premature.
        solo: It was played without a user.
        nl_verdicts: What a judge found on each natural-language statement, by its text.
        nl_produced_by: Who that judge is.
        lenient: Tool results may differ from the recorded ones when they are repeated.

    Returns:
        Components in the order DB, ENV_ASSERTION, ACTION, COMMUNICATE, NL_ASSERTION, each 1.0 or
        0.0, unscored without a verdict that it needs, or failed (harness) where the task's data
        or our replay broke. A task without criteria has neither components nor a basis.
    """
    premature = None if termination in REGULAR_ENDS else termination
    criteria = task.evaluation_criteria
    if criteria is None:
        return TaskResult(basis=(), components=(), premature_end=premature)
    replay = _Replay(
        domain=domain,
        task=task,
        messages=messages,
        solo=solo,
        lenient=lenient,
        cut_off=premature is not None,
    )
    return TaskResult(
        basis=criteria.reward_basis,
        components=(
            *_environment(replay, criteria),
            _actions(criteria.actions or (), messages),
            _communicated(criteria.communicate_info or (), messages),
            statements_component(criteria.nl_assertions or (), nl_verdicts, nl_produced_by),
        ),
        premature_end=premature,
    )


# -- DB and ENV_ASSERTION: what became of the databases ------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Replay:
    """Brings environments to where a conversation, and the gold path, lead."""

    domain: Domain
    task: Task
    messages: Sequence[Message]
    solo: bool
    lenient: bool
    cut_off: bool

    def predicted(self) -> Environment:
        environment = Environment(self.domain, solo=self.solo)
        set_state(environment, self.task, self.messages, lenient=self.lenient, cut_off=self.cut_off)
        return environment

    def gold(self, actions: Sequence[GoldAction]) -> Environment:
        # Never in solo mode: gold actions name their requestors.
        environment = Environment(self.domain)
        set_state(environment, self.task, message_history(self.task), lenient=self.lenient)
        apply_gold(environment, actions)
        return environment


def _environment(replay: _Replay, criteria: EvaluationCriteria) -> tuple[Component, Component]:
    if criteria.actions is None and criteria.env_assertions is None:
        # The official engine then replays nothing.
        return component("DB", []), component("ENV_ASSERTION", [])
    try:
        predicted = replay.predicted()
    except HarnessError as exc:
        return _broken("DB", str(exc)), _broken("ENV_ASSERTION", str(exc))
    return (
        _database(replay, predicted, criteria.actions or ()),
        # After the comparison: assertions synchronise.
        _assertions(replay, predicted, criteria),
    )


def _database(replay: _Replay, predicted: Environment, actions: Sequence[GoldAction]) -> Component:
    try:
        found = predicted.differences(replay.gold(actions))
    except HarnessError as exc:
        return _broken("DB", str(exc))
    reason = f"different: {', '.join(found)}" if found else None
    text = "the databases are as after the gold actions"
    return component("DB", [Check(description=text, met=not found, reason=reason)])


def _assertions(replay: _Replay, predicted: Environment, criteria: EvaluationCriteria) -> Component:
    assertions = criteria.env_assertions or ()
    checks = [_assertion(predicted, assertion) for assertion in assertions]
    if any(check.met is None for check in checks):
        checks = _blame_agent(replay, checks, criteria)
    broken = next((check.reason for check in checks if check.met is None), None)
    if broken is not None:
        return _broken("ENV_ASSERTION", broken, checks)
    return component("ENV_ASSERTION", checks)


def _blame_agent(
    replay: _Replay, checks: Sequence[Check], criteria: EvaluationCriteria
) -> list[Check]:
    """Return the checks, with those that cannot be evaluated not met where the agent is the reason.

    It is where the same assertion can be evaluated after the gold actions: then something is
    missing that should have been done. The official engine has no reward for such a conversation,
    because its evaluation raises.
    """
    try:
        gold = replay.gold(criteria.actions or ())
    except HarnessError:
        return list(checks)
    return [
        check.model_copy(update={"met": False})
        if check.met is None and _assertion(gold, assertion).met is not None
        else check
        for check, assertion in zip(checks, criteria.env_assertions or (), strict=True)
    ]


def _assertion(predicted: Environment, assertion: EnvAssertion) -> Check:
    arguments = show_arguments(assertion.arguments)
    wanted = "" if assertion.assert_value else "not "
    text = f"{wanted}{assertion.func_name}({arguments}) on the {assertion.env_type}'s side"
    try:
        met = predicted.holds(assertion)
    except HarnessError as exc:
        return Check(description=text, met=None, reason=str(exc))
    return Check(description=text, met=met, reason=None if met else assertion.message)


# -- ACTION, COMMUNICATE, NL_ASSERTION: what was done and said -------------------------------------


def _actions(actions: Sequence[GoldAction], messages: Sequence[Message]) -> Component:
    speakers = (m for m in messages if isinstance(m, AssistantMessage | UserMessage))
    calls = [call for message in speakers for call in message.tool_calls or ()]
    checks = [
        Check(
            description=f"{action.name}({show_arguments(action.arguments)})",
            met=any(_matches(action, call) for call in calls),
        )
        for action in actions
    ]
    return component("ACTION", checks)


def _matches(action: GoldAction, call: ToolCall) -> bool:
    if action.name != call.name:
        return False
    # Absent: the keys that the call gives, so one without arguments matches anything.
    keys = call.arguments.keys() if action.compare_args is None else set(action.compare_args)
    given = {key: value for key, value in call.arguments.items() if key in keys}
    wanted = {key: value for key, value in action.arguments.items() if key in keys}
    return not keys or given == wanted


def _communicated(strings: Sequence[str], messages: Sequence[Message]) -> Component:
    texts = [
        message.text.lower().replace(",", "")
        for message in messages
        if isinstance(message, AssistantMessage) and message.text.strip()
    ]
    checks = [
        Check(description=wanted, met=any(wanted.lower() in text for text in texts))
        for wanted in strings
    ]
    return component("COMMUNICATE", checks)


def statements_component(
    statements: Sequence[str], verdicts: Mapping[str, bool] | None, produced_by: str
) -> Component:
    """Return the component of statements; unscored where a verdict is missing."""
    if not statements:
        return component("NL_ASSERTION", [])
    known = verdicts or {}
    checks = [Check(description=text, met=known.get(text)) for text in statements]
    open_ones = sum(check.met is None for check in checks)
    if open_ones:
        reason = f"needs a judge for {open_ones} of {len(checks)} natural-language statements"
        return Component(name="NL_ASSERTION", outcome=Unscored(reason=reason), checks=tuple(checks))
    return component("NL_ASSERTION", checks, produced_by)


def component(
    name: OfficialComponentName, checks: Sequence[Check], produced_by: str = _RULES
) -> Component:
    """Return a component that holds where all of its checks do."""
    value = 1.0 if all(check.met for check in checks) else 0.0
    outcome = Scored(value=value, produced_by=produced_by)
    return Component(name=name, outcome=outcome, checks=tuple(checks))


def _broken(name: OfficialComponentName, reason: str, checks: Sequence[Check] = ()) -> Component:
    return Component(
        name=name, outcome=Failed(reason=reason, fault="harness"), checks=tuple(checks)
    )


def show_arguments(arguments: Mapping[str, object]) -> str:
    """Write the arguments of a call, for people."""
    return ", ".join(f"{key}={value!r}" for key, value in arguments.items())
