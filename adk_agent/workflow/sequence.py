"""The workflow: chains the three agents. No other module knows how they are chained."""

from __future__ import annotations

import warnings

from google.adk.agents import SequentialAgent

from adk_agent.workflow.agents import DESCRIPTION, NAME, WorkflowDeps, build_agents

RootAgent = SequentialAgent
"""The type of the workflow. ADK says that it will be removed; see docs/decisions/0001."""


def build_root_agent(deps: WorkflowDeps) -> RootAgent:
    """Build a new workflow agent at each call, because an agent can have only one parent."""
    with warnings.catch_warnings():
        # ADK prefers Workflow; docs/decisions/0001 says why this is a SequentialAgent.
        warnings.filterwarnings("ignore", message=".*SequentialAgent.*")
        return RootAgent(name=NAME, description=DESCRIPTION, sub_agents=list(build_agents(deps)))
