"""Builds the three agents of the workflow from what each needs."""

from __future__ import annotations

from dataclasses import dataclass

from google.adk.agents import BaseAgent

from adk_agent.play.evaluation import EvaluationDeps
from adk_agent.requests.lookup import LookupTools
from adk_agent.results.report import EvaluationReport, OnReport, ignored
from adk_agent.workflow.interpreter import InterpreterDeps, build_interpreter
from adk_agent.workflow.runner import EvaluationRunner
from adk_agent.workflow.selector import SelectorDeps, build_selector

NAME = "greenroom"
DESCRIPTION = "Evaluates A2A agents on the tasks of benchmarks and explains the scores."


@dataclass(frozen=True, kw_only=True)
class WorkflowDeps:
    """The needs of the three agents.

    Args:
        selector: For the first.
        evaluation: For the second.
        interpreter: For the third.
        on_report: Called with the report of each evaluation that was finished.
    """

    selector: SelectorDeps
    evaluation: EvaluationDeps
    interpreter: InterpreterDeps
    on_report: OnReport = ignored


def build_agents(deps: WorkflowDeps) -> tuple[BaseAgent, BaseAgent, BaseAgent]:
    """Build TaskSelector, EvaluationRunner and ResultsInterpreter, to be chained."""
    # The session's state holds JSON; the report goes from the second to the third as it is.
    reports: dict[str, EvaluationReport] = {}

    def hand_over(session_id: str, report: EvaluationReport) -> None:
        reports[session_id] = report
        deps.on_report(report)

    lookup = LookupTools(
        catalogue=deps.selector.catalogue,
        results_dir=deps.evaluation.results_dir,
        new_messenger=deps.evaluation.new_messenger,
    )
    return (
        build_selector(deps.selector, lookup),
        EvaluationRunner(deps.evaluation, hand_over),
        build_interpreter(deps.interpreter, reports.pop),
    )
