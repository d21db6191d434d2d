"""Builds the three agents of the workflow from what each needs."""

from __future__ import annotations

from dataclasses import dataclass

from google.adk.agents import BaseAgent
from google.adk.models.base_llm import BaseLlm

from adk_agent.play.evaluation import EvaluationDeps
from adk_agent.requests.lookup import LookupTools
from adk_agent.results.report import EvaluationReport, OnReport, ignored
from adk_agent.workflow.interpreter import RULES, build_interpreter
from adk_agent.workflow.runner import EvaluationRunner
from adk_agent.workflow.selector import build_selector

NAME = "greenroom"
DESCRIPTION = "Evaluates A2A agents on the tasks of benchmarks and explains the scores."


@dataclass(frozen=True, kw_only=True)
class WorkflowDeps:
    """The needs of the three agents.

    Args:
        evaluation: Plays the plans; requests name its benchmarks.
        selector_model: Reads sentences; rules do if None.
        interpreter_model: Words reports; a template does if None.
        author: The author of that prose: `rules`, or `llm:` and the model's name.
        may_register: Whether requests may register agents, whose names then count for everybody.
        on_report: Called with the report of each evaluation that was finished.
    """

    evaluation: EvaluationDeps
    selector_model: BaseLlm | str | None
    interpreter_model: BaseLlm | str | None
    author: str = RULES
    may_register: bool = True
    on_report: OnReport = ignored


def build_agents(deps: WorkflowDeps) -> tuple[BaseAgent, BaseAgent, BaseAgent]:
    """Build TaskSelector, EvaluationRunner and ResultsInterpreter, to be chained."""
    # The session's state holds JSON; the report goes from the second to the third as it is.
    reports: dict[str, EvaluationReport] = {}

    def hand_over(session_id: str, report: EvaluationReport) -> None:
        reports[session_id] = report
        deps.on_report(report)

    evaluation = deps.evaluation
    lookup = LookupTools(
        catalogue=lambda: evaluation.benchmarks,
        results_dir=evaluation.results_dir,
        new_messenger=evaluation.new_messenger,
    )
    return (
        build_selector(
            deps.selector_model, evaluation.benchmarks, lookup, may_register=deps.may_register
        ),
        EvaluationRunner(evaluation, hand_over),
        build_interpreter(
            deps.interpreter_model,
            reports.pop,
            results_dir=evaluation.results_dir,
            author=deps.author,
        ),
    )
