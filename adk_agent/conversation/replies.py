"""Reading: what a message wants. Reply: what is to be done about it, for every door alike."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from adk_agent.core.plan import EvaluationPlan
from adk_agent.requests.intent import Intent, Question


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The wish of a message.

    Args:
        intent: What was read.
        read_by: The reader: `rules`, `json` (AgentBeats JSON needs none), or `llm:` and a model.
        text: What was read: the message, with an earlier one if it completes that.
        warnings: What went wrong on the way, such as a model that cannot be reached.
    """

    intent: Intent
    text: str
    read_by: str = "rules"
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """Words in markdown.

    Args:
        text: The words. Texts of agents in it are escaped.
        report_of: The run whose report goes with it; None for no report.
        files: Files that were written or are there to be opened, such as the page of a run.
    """

    text: str
    report_of: str | None = None
    files: tuple[Path, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Refused:
    """A wish that cannot be fulfilled: `text` says why, and what can be done instead."""

    text: str
    exit_code: int = 2


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question that the person has to answer first."""

    question: Question


@dataclass(frozen=True, kw_only=True)
class Play:
    """A plan is to be played: as a new run, or as the rest of `resumed_run_id`."""

    plan: EvaluationPlan
    request: str
    resumed_run_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class CancelRuns:
    """These runs are to be canceled; none means the evaluation that has no run yet."""

    run_ids: tuple[str, ...]


Reply = Answer | Refused | Asked | Play | CancelRuns


def words_of(reply: Reply) -> str:
    """Return a reply in words, for callers that can do nothing else with it."""
    match reply:
        case Answer() | Refused():
            return reply.text
        case Asked():
            return reply.question.text
        case Play():
            return f"{reply.plan.total_trials} conversations are to be played."
        case CancelRuns():
            return f"To be canceled: {', '.join(reply.run_ids) or 'the evaluation'}."
