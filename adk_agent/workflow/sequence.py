"""The workflow: TaskSelector, then EvaluationRunner, then ResultsInterpreter."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from google.adk.agents import SequentialAgent

from adk_agent.play.evaluation import EvaluationDeps
from adk_agent.requests.lookup import LookupTools
from adk_agent.workflow.interpreter import InterpreterDeps, build_interpreter
from adk_agent.workflow.runner import EvaluationRunner
from adk_agent.workflow.selector import SelectorDeps, build_selector

NAME = "greenroom"

RootAgent = SequentialAgent
"""What the workflow is to others. ADK says that it will be removed; docs/decisions/0001."""


@dataclass(frozen=True, kw_only=True)
class WorkflowDeps:
    """What each of the three agents needs."""

    selector: SelectorDeps
    evaluation: EvaluationDeps
    interpreter: InterpreterDeps


def build_root_agent(deps: WorkflowDeps) -> RootAgent:
    """The workflow agent. Every call builds a new one, for an agent has only one parent."""
    with warnings.catch_warnings():
        # ADK prefers Workflow; docs/decisions/0001 says why this is a SequentialAgent.
        warnings.filterwarnings("ignore", message=".*SequentialAgent.*")
        return RootAgent(
            name=NAME,
            description="Evaluates A2A agents on the tasks of benchmarks and explains the scores.",
            sub_agents=[
                build_selector(deps.selector, _lookup(deps)),
                EvaluationRunner(deps.evaluation),
                build_interpreter(deps.interpreter),
            ],
        )


def _lookup(deps: WorkflowDeps) -> LookupTools:
    return LookupTools(
        catalogue=deps.selector.catalogue,
        results_dir=deps.evaluation.results_dir,
        new_messenger=deps.evaluation.new_messenger,
    )
