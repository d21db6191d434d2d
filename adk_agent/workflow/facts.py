"""Facts: what a language model is shown to answer a question about a run, fenced as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from adk_agent.conversation.replies import Answer
from adk_agent.core.errors import GreenroomError
from adk_agent.core.escaping import escape_markdown, one_line
from adk_agent.requests.intent import Intent, Why
from adk_agent.results.digest import digest_of
from adk_agent.results.summary import TrialRow
from adk_agent.runs.results import results_so_far
from adk_agent.runs.store import TrialRecord, iter_trials

MOST_TRANSCRIPT = 12_000
"""Most characters of transcripts that a model is shown."""
_MOST_MESSAGE = 600
_MOST_TRIALS = 3


def facts_about(intent: Intent, answer: Answer, results_dir: Path) -> str:
    """Return the facts for an answer, with every tag escaped, so that none ends the fence.

    They are the answer as the template gives it, the digest of its run, and for one task's `why`
    the transcripts of trials that did not pass, cut to a bound.
    """
    parts = [answer.text]
    if answer.report_of is not None:
        try:
            parts += _of_run(intent, results_dir, answer.report_of)
        except GreenroomError:
            parts.append("The run's files cannot be read.")
    return escape_markdown("\n\n".join(parts))


def _of_run(intent: Intent, results_dir: Path, run_id: str) -> Iterator[str]:
    _, report = results_so_far(results_dir, run_id)
    yield f"Digest of the run: {digest_of(report).model_dump_json()}"
    if isinstance(intent, Why) and intent.task_id is not None:
        lost = [
            record
            for record in iter_trials(results_dir, run_id)
            if record.row.task_id == intent.task_id
            and intent.domain in (None, record.row.domain)
            and not record.row.passed
        ]
        yield "\n\n".join(map(_transcript, lost[:_MOST_TRIALS]))[:MOST_TRANSCRIPT]


def _transcript(record: TrialRecord) -> str:
    row = record.row
    lines = [f"Transcript of task {row.task_id}, trial {row.trial}, which {_ending(row)}:"]
    lines += [f"{message.get('role')}: {_said(message)}" for message in record.messages]
    return "\n".join(lines)


def _ending(row: TrialRow) -> str:
    return f"{row.status} with reward {row.reward}, ended by {row.termination}"


def _said(message: Mapping[str, Any]) -> str:
    calls = [f"{call['name']}({json.dumps(call.get('arguments'))})" for call in _calls(message)]
    return one_line(" ".join([str(message.get("content") or ""), *calls]), _MOST_MESSAGE)


def _calls(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return message.get("tool_calls") or ()
