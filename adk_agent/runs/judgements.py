"""Judgements: the yes-or-no verdicts of language models in the trials of a run."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import TypeAdapter

from adk_agent.runs.store import TrialRecord
from evals.judge.modes import FAILURE_MODES, FailureModesEvaluator, ModeVerdict
from evals.trace import CallType, InteractionStep, Provenance
from tau_bridge.completion import COMPLETION

STATEMENTS: Final = "statements"
"""The criterion of statements about a conversation; those of one domain are measured together."""
_QUESTIONS: Final = {mode.code: mode.question for mode in FAILURE_MODES}
_BY_MODEL: Final = "llm:"
_MODES: Final = TypeAdapter(tuple[ModeVerdict, ...])


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """One verdict, and what it is about.

    Args:
        judge: `llm:` and the model's name.
        criterion: What is measured together: the statements of a domain, or a failure mode.
        question: What was asked, so that a person can answer it too.
        verdict: True if the statement holds, or the failure is present.
        material: What it was judged by.
        trial: The trial in words.
        prompt: The version of the prompt; empty where it was not kept.
    """

    judge: str
    criterion: str
    question: str
    verdict: bool
    material: str
    trial: str
    prompt: str = ""


def judgements_in(record: TrialRecord) -> Iterator[Judgement]:
    """Yield the verdicts of language models in a trial; abstentions are none."""
    conversation = _conversation(record.messages) if record.judged else ""
    for statement in record.judged:
        yield Judgement(
            judge=statement.judge,
            criterion=f"{STATEMENTS} of {record.row.domain}",
            question=f"Does this hold of the conversation? {statement.text}",
            verdict=statement.met,
            material=conversation,
            trial=record.row.label,
            prompt=statement.prompt,
        )
    modes = list(_modes(record))
    calls = _calls(record.trace.steps) if modes else ""
    for mode in modes:
        yield Judgement(
            judge=mode.produced_by,
            criterion=f"{mode.code} {mode.name}",
            question=f"Is this failure in the calls below? {_QUESTIONS[mode.code]}",
            verdict=mode.verdict == "present",
            material=calls,
            trial=record.row.label,
            prompt=mode.prompt,
        )


def _modes(record: TrialRecord) -> Iterator[ModeVerdict]:
    for evaluation in record.evaluations:
        if evaluation.evaluator == FailureModesEvaluator.name:
            for mode in _MODES.validate_python(evaluation.details.get("modes", [])):
                by_model = mode.produced_by.startswith(_BY_MODEL)
                if by_model and mode.verdict != "abstain" and mode.code in _QUESTIONS:
                    yield mode


def _conversation(messages: Iterable[Mapping[str, Any]]) -> str:
    lines = []
    for each in messages:
        text = str(each.get("content") or "")
        calls = [
            f"[calls {call.get('name')} {json.dumps(call.get('arguments'), ensure_ascii=False)}]"
            for call in each.get("tool_calls") or ()
        ]
        lines.append(f"{each.get('role')}: {' '.join([text, *calls]).strip()}")
    return "\n".join(lines)


def _calls(steps: Iterable[InteractionStep]) -> str:
    """Lay out the calls of the agents, without those that the assessor itself makes of a model."""
    lines = []
    for step in steps:
        is_model = step.call_type is CallType.TOOL and step.name == COMPLETION
        if not (is_model and step.provenance is Provenance.OBSERVED):
            lines += [
                f"{step.caller} to {step.callee}: {step.request_text or ''}",
                f"  answer: {step.error or step.response_text or ''}",
            ]
    return "\n".join(lines)
