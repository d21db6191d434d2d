"""LLMJudgment: the judgement of a trace, and the reading of a model's answer.

An answer is read strictly: a field that is missing, out of its range or unknown, or a step that
was not shown, makes it unusable. What is said about an unusable answer never quotes it.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evals.judge.quoting import visible

Quality = Literal["excellent", "good", "fair", "poor", "not_applicable"]

MAX_ANSWER_CHARS = 60_000
MAX_ATTEMPTS = 50
"""Places in an answer that are tried as the beginning of the JSON object."""


def _shown(value: object) -> object:
    return visible(value) if isinstance(value, str) else value


Sentence = Annotated[str, Field(min_length=1, max_length=400), BeforeValidator(_shown)]
Prose = Annotated[str, Field(min_length=1, max_length=3000), BeforeValidator(_shown)]
StepId = Annotated[str, Field(min_length=1, max_length=64)]
Score = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]


class LLMJudgment(BaseModel):
    """A judgement of how the agents of one trace worked together, by a model or by rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    overall_score: Score = Field(description="0 worst, 1 best")
    reasoning: Prose = Field(description="why, in a few sentences")
    coordination_quality: Quality = Field(
        description="not_applicable if there are fewer than three agents"
    )
    strengths: tuple[Sentence, ...] = Field(default=(), max_length=8)
    weaknesses: tuple[Sentence, ...] = Field(default=(), max_length=8)
    cited_step_ids: tuple[StepId, ...] = Field(
        default=(), max_length=40, description="ids of shown steps that the judgement rests on"
    )


class UnusableAnswerError(ValueError):
    """A model's answer is not what was asked for. The message says why and quotes nothing."""


M = TypeVar("M", bound=BaseModel)


def schema_of(model: type[BaseModel]) -> str:
    """Return the JSON schema of an answer, on one line."""
    return json.dumps(model.model_json_schema(), separators=(",", ":"))


def read_answer(answer: str, model: type[M]) -> M:
    """Read the one object of a kind in a model's answer; text around it is ignored.

    Raises:
        UnusableAnswerError: there is none, or there are several that differ.
    """
    if len(answer) > MAX_ANSWER_CHARS:
        raise UnusableAnswerError(f"it has {len(answer)} characters, more than {MAX_ANSWER_CHARS}")
    found: list[M] = []
    complaint = "it holds no JSON object"
    for value in _objects_in(answer):
        try:
            found.append(model.model_validate(value))
        except ValidationError as error:
            complaint = _complaint(error, model)
    if not found:
        raise UnusableAnswerError(complaint)
    if any(other != found[0] for other in found):
        raise UnusableAnswerError(f"it holds {len(found)} JSON objects that differ")
    return found[0]


def check_citations(cited: Collection[str], known: Collection[str]) -> None:
    """Make sure that every step that is cited was shown.

    Raises:
        UnusableAnswerError: some were not.
    """
    unknown = sum(step_id not in known for step_id in cited)
    if unknown:
        raise UnusableAnswerError(
            f"{unknown} of {len(cited)} cited step ids are ids of no step that was shown"
        )


def _objects_in(answer: str) -> list[object]:
    """List the JSON objects of a text, from left to right, without those inside others."""
    decoder = json.JSONDecoder()
    found: list[object] = []
    position = 0
    for _ in range(MAX_ATTEMPTS):
        start = answer.find("{", position)
        if start < 0:
            break
        try:
            value, position = decoder.raw_decode(answer, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        found.append(value)
    return found


def _complaint(error: ValidationError, model: type[BaseModel]) -> str:
    """Say what is wrong with an object, without quoting it."""
    wrong = set()
    for detail in error.errors(include_url=False, include_input=False, include_context=False):
        place = str(detail["loc"][0]) if detail["loc"] else ""
        field = f"field {place!r}" if place in model.model_fields else "a field that is not asked"
        wrong.add(f"{field}: {detail['type']}")
    return f"its JSON object does not fit the schema ({', '.join(sorted(wrong)[:8])})"
