"""Outcome: how a message ended, as a report, as a reply or as a problem."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from adk_agent.conversation.replies import Asked, Refused, Reply
from adk_agent.core.errors import (
    GreenroomError,
    PreflightError,
    RequestError,
    RunCanceledError,
    exit_code_of,
)
from adk_agent.requests.intent import Question
from adk_agent.results.report import EvaluationReport


class Problem(BaseModel):
    """The reason why a request was refused or an evaluation did not finish."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    message: str
    exit_code: int

    @classmethod
    def of(cls, error: Exception) -> Problem:
        """Return an error of this package or of the bridge as a problem."""
        return cls(message=str(error), exit_code=exit_code_of(error))

    def error(self) -> GreenroomError:
        """Return an error with the same message and exit code."""
        kinds = (RequestError, RunCanceledError)
        kind = next((each for each in kinds if each.exit_code == self.exit_code), PreflightError)
        return kind(self.message)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of a message.

    Args:
        run_id: The run; None if none was started.
        report: Its report; None if it did not finish.
        interpretation: The report in words, or why there are none; None if not attempted.
        reply: What was answered instead of playing; None if something was played.
        problem: Why it was refused or did not finish; None if it finished or was answered.
    """

    run_id: str | None = None
    report: EvaluationReport | None = None
    interpretation: str | None = None
    reply: Reply | None = None
    problem: Problem | None = None

    @classmethod
    def of(cls, reply: Reply) -> Outcome:
        """Return the outcome of a message that played nothing; a refusal is a problem as well."""
        if not isinstance(reply, Refused):
            return cls(reply=reply)
        problem = Problem(message=reply.text, exit_code=reply.exit_code)
        return cls(reply=reply, problem=problem)

    @property
    def question(self) -> Question | None:
        """The question that the person has to answer first, or None."""
        return self.reply.question if isinstance(self.reply, Asked) else None

    def required_report(self) -> EvaluationReport:
        """Return the report.

        Raises:
            GreenroomError: There is no report; the message says why.
        """
        if self.problem is not None:
            raise self.problem.error()
        if self.question is not None:
            raise RequestError(self.question.text)
        if self.report is None:
            raise GreenroomError(
                "the evaluation ended without a report; this is a fault of greenroom"
            )
        return self.report
