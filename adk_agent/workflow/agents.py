"""Builds the three agents of the workflow from their dependencies."""

from __future__ import annotations

from dataclasses import dataclass

from google.adk.agents import BaseAgent
from google.adk.models.base_llm import BaseLlm

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.play.evaluation import EvaluationDeps
from adk_agent.requests.intent import Situation
from adk_agent.requests.lookup import LookupTools
from adk_agent.results.report import EvaluationReport, OnReport, ignored
from adk_agent.workflow import state
from adk_agent.workflow.interpreter import RULES, build_interpreter
from adk_agent.workflow.models import timed
from adk_agent.workflow.runner import EvaluationRunner
from adk_agent.workflow.selector import ReadByRules, build_selector

NAME = "greenroom"
ANSWER_WITHIN_S = 90.0
DESCRIPTION = "Evaluates A2A agents on the tasks of benchmarks and explains the scores."


@dataclass(frozen=True, kw_only=True)
class WorkflowDeps:
    """The dependencies of the three agents.

    Args:
        evaluation: Plays the plans; requests name its benchmarks.
        conversation: What answers are made from.
        read_by_rules: Reads without a model.
        selector_model: Reads sentences; None for rules.
        interpreter_model: Words reports; None for a template.
        author: The author of readings and prose: `rules`, or `llm:` and the model's name.
        may_register: True if requests may register agents, under names that all users share.
        answer_within_s: Seconds that a model may take for one answer.
        on_report: Called with the report of each finished evaluation.
    """

    evaluation: EvaluationDeps
    conversation: ConversationDeps
    read_by_rules: ReadByRules
    selector_model: BaseLlm | str | None
    interpreter_model: BaseLlm | str | None
    author: str = RULES
    may_register: bool = True
    answer_within_s: float = ANSWER_WITHIN_S
    on_report: OnReport = ignored


def build_agents(deps: WorkflowDeps) -> tuple[BaseAgent, BaseAgent, BaseAgent]:
    """Build TaskSelector, EvaluationRunner and ResultsInterpreter, to be chained."""
    # The session state holds JSON; the report goes from the second to the third agent as an object.
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

    def situated(session: state.Readable) -> Situation:
        return state.situation(session, lookup.registered())

    return (
        build_selector(
            _timed(deps.selector_model, deps),
            evaluation.benchmarks,
            lookup,
            read_by_rules=deps.read_by_rules,
            author=deps.author,
            may_register=deps.may_register,
        ),
        EvaluationRunner(evaluation, deps.conversation, situated, hand_over),
        build_interpreter(
            _timed(deps.interpreter_model, deps),
            reports.pop,
            deps.conversation,
            author=deps.author,
        ),
    )


def _timed(model: BaseLlm | str | None, deps: WorkflowDeps) -> BaseLlm | None:
    return None if model is None else timed(model, deps.answer_within_s)
