"""Diagnoses business scenarios that were not solved."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.diagnosis.behaviour import Behaviour, Call, Turn, refusal
from evals.diagnosis.loops import repeated_call
from evals.diagnosis.model import Diagnosis, FailureKind
from evals.diagnosis.verdict import Suspicion, diagnosis_of, of_words, unsaid
from evals.outcome import TaskResult
from tau_bridge.business.tools import Insert, SetFields
from tau_bridge.business.world import BusinessWorld
from tau_bridge.messages import AssistantMessage, Message, UserMessage
from tau_bridge.wire import parse_reply


def diagnose_scenario(
    world: BusinessWorld, result: TaskResult, messages: Sequence[Message]
) -> Diagnosis:
    """Explain why a business scenario was not solved: the policy first, then records, then words.

    Args:
        world: As the agent left it.
        result: Its components.
        messages: The conversation.
    """
    found = _findings(world, result, messages)
    lacking, wrongly = unsaid(result)
    suspicions = [
        *_against_policy(found),
        *_changed(found),
        *_gave_up(found),
        *_loops(found),
        *_undone(found),
        *of_words(lacking, wrongly),
    ]
    return diagnosis_of(suspicions, not_communicated=lacking)


@dataclass(frozen=True, kw_only=True)
class _Findings:
    """The findings about one scenario; descriptions of checks are in words."""

    behaviour: Behaviour
    forbidden: Sequence[str]
    """Forbidden calls that were made."""
    not_asked: Sequence[str]
    """Approvals that were not asked for."""
    handed_over: bool
    """The case was handed to a person, and should not have been."""
    kept: bool
    """The case was not handed to a person, and should have been."""
    undone: Sequence[str]
    """Expected changes that are missing."""
    also_changed: str | None
    """Records that should not have changed; None: there are none."""
    expects_changes: bool


def _findings(world: BusinessWorld, result: TaskResult, messages: Sequence[Message]) -> _Findings:
    """Sort the checks by subject: calls, approvals, handing over, in the order of `scoring`."""
    expected = world.scenario.expected
    checks = {component.name: component.checks for component in result.components}
    policy = checks["POLICY"]
    *changes, nothing_else = checks["STATE"]
    calls = len(expected.forbidden_calls)
    approvals = calls + len(expected.approvals)
    over = any(not check.met for check in policy[approvals:])
    return _Findings(
        behaviour=Behaviour(turns=_turns(messages), calls=_calls(world), handing_over=frozenset()),
        forbidden=[_bare(check.description) for check in policy[:calls] if not check.met],
        not_asked=[_bare(check.description) for check in policy[calls:approvals] if not check.met],
        handed_over=over and expected.outcome != "escalate",
        kept=over and expected.outcome == "escalate",
        undone=[check.description for check in changes if not check.met],
        also_changed=None if nothing_else.met else nothing_else.reason,
        expects_changes=bool(expected.changes),
    )


def _against_policy(found: _Findings) -> Iterator[Suspicion]:
    if found.forbidden:
        text = f"a call was made that the policy forbids: {', '.join(found.forbidden)}"
        yield Suspicion(kind="policy", text=text)


def _changed(found: _Findings) -> Iterator[Suspicion]:
    if found.also_changed is not None:
        kind: FailureKind = "wrong_write" if found.expects_changes else "policy"
        text = f"records changed that should not have ({found.also_changed})"
        yield Suspicion(kind=kind, text=text)


def _gave_up(found: _Findings) -> Iterator[Suspicion]:
    if found.handed_over:
        text = "the case was handed over to a person, who was not needed"
        yield Suspicion(kind="gave_up", text=text)
        return
    attempted = any(call.writes for call in found.behaviour.calls)
    idle = not found.behaviour.calls and (found.not_asked or found.kept)
    declined = refusal(found.behaviour)
    if declined is not None and (idle or (found.undone and not attempted)):
        yield Suspicion(kind="gave_up", text=f"{declined}, and did not do what was due")


def _loops(found: _Findings) -> Iterator[Suspicion]:
    circling = repeated_call(found.behaviour, in_a_row=True)
    if circling is not None and found.undone:
        call, count = circling
        text = f"{count} identical calls of {call.name} in a row had the same result"
        yield Suspicion(kind="loop", text=text)


def _undone(found: _Findings) -> Iterator[Suspicion]:
    if found.not_asked:
        text = f"an approval was needed and not asked for: {', '.join(found.not_asked)}"
        yield Suspicion(kind="policy", text=text)
    if found.undone:
        text = f"not changed as expected: {', '.join(found.undone)}"
        yield Suspicion(kind="missing_write", text=text)
    if found.kept:
        yield Suspicion(kind="policy", text="the case was not handed over to a person")


def _bare(description: str) -> str:
    for beginning in ("does not call ", "asks for an approval of "):
        description = description.removeprefix(beginning)
    return description


def _calls(world: BusinessWorld) -> list[Call]:
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


def _turns(messages: Sequence[Message]) -> list[Turn]:
    return [
        Turn(speaker=message.role, text=_words(message), message=index)
        for index, message in enumerate(messages)
        if isinstance(message, AssistantMessage | UserMessage) and message.text
    ]


def _words(message: AssistantMessage | UserMessage) -> str:
    """Return the words of a message: agents may wrap theirs as in τ²-bench's protocol."""
    if isinstance(message, AssistantMessage):
        reply = parse_reply(message.text)
        if reply.kind == "respond" and reply.content:
            return reply.content
    return message.text
