"""RunResources: reports and conversations of runs as texts, and the URIs that name them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from adk_agent.conversation.transcript import transcript
from adk_agent.core.errors import GreenroomError, RequestError
from adk_agent.core.redaction import ModelRedactor
from adk_agent.results.markdown import explained
from adk_agent.results.summary import TrialKey
from adk_agent.runs.naming import BY_AGE, find_run
from adk_agent.runs.results import results_so_far
from adk_agent.runs.store import StoredTrials

REPORT_URI = "greenroom://runs/{run}/report"
LATEST_REPORT_URI = "greenroom://runs/latest/report"
TRIAL_URI = "greenroom://runs/{run}/trials/{agent}/{domain}/{task}/{trial}"
MOST_LINKED = 50
"""Most conversations that one answer links to."""


class RunResources:
    """Reads reports and conversations.

    Args:
        results_dir: The folder of runs.
        redactor: Redacts secrets in what is read.
    """

    def __init__(self, results_dir: Path, redactor: ModelRedactor) -> None:
        self._results_dir = results_dir
        self._redactor = redactor

    async def report(self, run: str) -> str:
        """Return the report of a run, finished or not, in markdown."""
        return await _found(lambda: self._report(run))

    async def latest_report(self) -> str:
        """Return the report of the newest run, in markdown."""
        return await self.report("latest")

    async def trial(self, run: str, agent: str, domain: str, task: str, trial: str) -> str:
        """Return how one trial ended, why, and its whole conversation, in markdown."""
        return await _found(lambda: self._trial(run, agent, domain, task, trial))

    def links(self, run_id: str) -> dict[str, object]:
        """Return the URI of a run's report, and those of trials that did not pass.

        Raises:
            RequestError: There is no such run.
            StorageError: It has no results, or they cannot be read.
        """
        _, report = results_so_far(self._results_dir, run_id)
        lost = [row.key for row in report.trials if not row.passed]
        return {
            "report": REPORT_URI.format(run=run_id),
            "not_passed": [_trial_uri(run_id, key) for key in lost[:MOST_LINKED]],
            "not_passed_left_out": max(0, len(lost) - MOST_LINKED),
        }

    def _report(self, run: str) -> str:
        _, report = results_so_far(self._results_dir, self._run_id(run))
        return explained(self._redactor.model(report))

    def _trial(self, run: str, agent: str, domain: str, task: str, trial: str) -> str:
        run_id = self._run_id(run)
        _, report = results_so_far(self._results_dir, run_id)
        keys = [row.key for row in report.trials]
        wanted = (agent, domain, task, trial)
        key = next((each for each in keys if (*each[:3], str(each[3])) == wanted), None)
        if key is None:
            some = ", ".join(_trial_uri(run_id, each) for each in keys[:3])
            raise RequestError(
                f"run {run_id} has no finished trial {trial!r} of {agent!r} on task {task!r} of "
                f"{domain!r}; it has {len(keys)}{f', such as {some}' if some else ''}"
            )
        for record in StoredTrials(self._results_dir, run_id).records({key}):
            return transcript(self._redactor.model(record))
        raise RequestError(f"the conversation of that trial is not in run {run_id}")

    def _run_id(self, run: str) -> str:
        return find_run(run, self._results_dir)[1] if run in BY_AGE else run


def _trial_uri(run_id: str, key: TrialKey) -> str:
    agent, domain, task, trial = (quote(str(part), safe="") for part in key)
    return TRIAL_URI.format(run=run_id, agent=agent, domain=domain, task=task, trial=trial)


async def _found(read: Callable[[], str]) -> str:
    try:
        return await asyncio.to_thread(read)
    except GreenroomError as error:
        raise ResourceNotFoundError(str(error)) from error
