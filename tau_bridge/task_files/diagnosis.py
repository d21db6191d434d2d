"""Explains why a task of a file was not passed: by the checks that do not hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from evals.diagnosis.behaviour import Behaviour, Call, Reply, Turn, refusal
from evals.diagnosis.loops import repeated_call
from evals.diagnosis.model import Diagnosis, FailureKind
from evals.diagnosis.verdict import Suspicion, diagnosis_of, unmet
from evals.outcome import TaskResult
from tau_bridge.messages import AssistantMessage, UserMessage
from tau_bridge.task_files.checks import Expectation
from tau_bridge.task_files.texts import stands_in
from tau_bridge.tool_dialogue import Dialogue

_KINDS: Final[tuple[tuple[str, FailureKind], ...]] = (
    ("calls ", "missing_write"),
    ("does not call ", "policy"),
    ("makes at most ", "loop"),
    ("asks within the team: ", "teamwork"),
    ("does not ask within the team: ", "teamwork"),
    ("leaves ", "wrong_write"),
)
"""The first words of a check's description, and the kind of failure that it shows."""


def diagnose(
    result: TaskResult, dialogue: Dialogue, checks: Sequence[Expectation] = ()
) -> Diagnosis:
    """Explain a conversation by the checks that do not hold, and by how the agent went about it."""
    suspicions = [*_ways(dialogue), *_checks(result)]
    return diagnosis_of(suspicions, not_communicated=_not_said(dialogue, checks))


def _not_said(dialogue: Dialogue, checks: Sequence[Expectation]) -> list[str]:
    """Return the texts that every right answer holds, and no answer held."""
    found: list[str] = []
    for check in checks:
        alone = check
        while alone.kind in ("any", "all") and len(alone.value) == 1:
            alone = alone.value[0]
        if alone.kind == "contains":
            found += [
                text
                for text in alone.value
                if not any(stands_in(said, text) for said in dialogue.answers)
            ]
    return found


def _checks(result: TaskResult) -> Iterator[Suspicion]:
    for name in result.basis:
        for text in unmet(result, name):
            kinds = (kind for words, kind in _KINDS if text.startswith(words))
            kind: FailureKind = next(kinds, "communication")
            yield Suspicion(kind=kind, text=f"expected, and not so: {text}")


def _ways(dialogue: Dialogue) -> Iterator[Suspicion]:
    behaviour = _behaviour(dialogue)
    if not any(dialogue.answers):
        yield Suspicion(kind="format", text="the agent said nothing")
    circling = repeated_call(behaviour, in_a_row=True)
    if circling is not None:
        call, count = circling
        text = f"{count} identical calls of {call.name} in a row had the same result"
        yield Suspicion(kind="loop", text=text)
    declined = refusal(behaviour)
    if declined is not None and not dialogue.calls:
        yield Suspicion(kind="gave_up", text=declined)


def _behaviour(dialogue: Dialogue) -> Behaviour:
    results = {result.id: result for result in dialogue.results}
    return Behaviour(
        turns=[
            Turn(speaker=message.role, text=message.text, message=index)
            for index, message in enumerate(dialogue.messages)
            if isinstance(message, AssistantMessage | UserMessage) and message.text
        ],
        calls=[
            Call(
                name=call.name,
                arguments=call.arguments,
                error=results[call.id].error if call.id in results else False,
                result=(results[call.id].content or "") if call.id in results else "",
            )
            for call in dialogue.calls
        ],
        replies=[Reply(text=text) for text in dialogue.answers],
    )
