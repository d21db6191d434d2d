"""Coordination exercises: questions that need several specialists, and whether an answer is right.

An exercise is one message to the entry agent and one answer. Its facts stand in the message, so
that any team can answer it. The answer is checked by what it must and must not contain; how the
team came to it is what the evaluators look at.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from evals.outcome import TaskResult
from tau_bridge.bundled_data import bundled_records, one_of, revision_of_records
from tau_bridge.phrases import score_communicated

DOMAIN = "coordination"
"""The name under which exercises are asked for and reported, beside the domains of τ²-bench."""
SPLIT = "base"

_Text = Annotated[str, Field(min_length=1)]


class Exercise(BaseModel):
    """One question to a team."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: _Text
    title: _Text
    skills: tuple[_Text, ...]
    """The skills that a team needs, for example `orders` or `arithmetic`."""
    prompt: _Text
    must_contain: tuple[tuple[_Text, ...], ...]
    """A right answer contains at least one text of every group."""
    must_not_contain: tuple[_Text, ...] = ()
    answer: _Text
    """An answer that is right."""

    def grade(self, answer: str) -> TaskResult:
        """Grade an answer, as a τ² result of the component COMMUNICATE, 1 or 0.

        Texts are compared without regard to case, white space and compatibility forms (NFKC); one
        inside a longer word or number does not count.
        """
        return TaskResult(
            basis=("COMMUNICATE",),
            components=(score_communicated(answer, self.must_contain, self.must_not_contain),),
        )


@cache
def exercises() -> dict[str, Exercise]:
    """Return the bundled exercises by id, in their order.

    Raises:
        DataError: The bundled file cannot be used.
    """
    return {exercise.id: exercise for exercise in bundled_records("exercises", Exercise)}


def exercise(exercise_id: str) -> Exercise:
    """Return one exercise.

    Raises:
        UnknownTaskError: No task has this id.
    """
    return one_of(DOMAIN, exercises(), exercise_id)


def exercises_revision() -> str:
    """Return a hash of all exercises, to tell apart what was asked in different versions."""
    return revision_of_records(exercises().values())
