"""AssistantTools: the evaluation tools of a coding assistant, whose results link to resources."""

from __future__ import annotations

import asyncio
from typing import Any

from adk_agent.assembly import Assembly
from adk_agent.mcp_server.resources import RunResources
from adk_agent.requests.lookup import answered
from adk_agent.tools import EvaluationTools


class AssistantTools(EvaluationTools):
    """The evaluation tools, with links to the report and to conversations in the results.

    Args:
        assembly: The parts of an evaluation.
        resources: Makes the links.
    """

    def __init__(self, assembly: Assembly, resources: RunResources) -> None:
        super().__init__(assembly)
        self._resources = resources

    async def get_evaluation_results(self, run_id: str) -> dict[str, Any]:
        """Return the results of an evaluation, so far or final.

        Args:
            run_id: The id that run_evaluation returned.

        Returns:
            state; final (false while it is running); digest, the figures; prose, the figures in
            words; files, the paths of the full report; resources, the URIs of the report and of the
            conversations of trials that did not pass.
        """
        return await answered(self._linked(run_id))

    async def _linked(self, run_id: str) -> dict[str, Any]:
        found = await asyncio.to_thread(self._results, run_id)
        return {**found, "resources": await asyncio.to_thread(self._resources.links, run_id)}
