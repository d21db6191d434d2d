"""Outcome: how a request ended, as a report or as a problem."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from adk_agent.core.errors import exit_code_of
from adk_agent.results.report import EvaluationReport


class Problem(BaseModel):
    """Why a request was refused or an evaluation did not finish."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    message: str
    exit_code: int

    @classmethod
    def of(cls, error: Exception) -> Problem:
        """The problem that an error of ours, or of the bridge, tells of."""
        return cls(message=str(error), exit_code=exit_code_of(error))


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a request ended.

    Args:
        run_id: The run; None where none was begun.
        report: What it came to; None where it did not finish.
        interpretation: The report in words, or why there is none; None where nobody worded it.
        problem: Why it was refused or did not finish; None where it did.
    """

    run_id: str | None
    report: EvaluationReport | None = None
    interpretation: str | None = None
    problem: Problem | None = None
