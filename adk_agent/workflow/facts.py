"""Facts: what a language model is shown to answer a question about a run, fenced as data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.conversation.replies import Answer
from adk_agent.core.errors import GreenroomError
from adk_agent.core.escaping import escape_markdown, one_line
from adk_agent.core.redaction import ModelRedactor
from adk_agent.requests.agents import agent_key
from adk_agent.requests.intent import Intent, Why
from adk_agent.results.digest import digest_of
from adk_agent.results.grounding import numbers_without_facts
from adk_agent.runs.results import results_so_far
from adk_agent.runs.store import TrialRecord, iter_trials

MOST_TRANSCRIPT = 12_000
"""Most characters of transcripts that a model is shown."""
_MOST_MESSAGE = 600
_MOST_TRIALS = 3
_QUOTED = "> "
"""Begins a line of an answer that quotes a conversation."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The facts for an answer, with every tag escaped, so that none ends their fence.

    Args:
        measured: What Greenroom itself found out. Numbers of prose must stand in it.
        recorded: Conversations, which the agent under test wrote a part of. Prose may quote them.
    """

    measured: str
    recorded: str = ""

    @property
    def text(self) -> str:
        """Everything, for a prompt."""
        return f"{self.measured}\n\n{self.recorded}".strip()

    def invented(self, prose: str) -> list[str]:
        """Return the numbers of a text that are not measured, nor part of a literal quotation."""
        return numbers_without_facts(prose, self.measured, quotable=self.recorded)


def facts_about(
    intent: Intent, answer: Answer, run_id: str | None, deps: ConversationDeps
) -> Facts:
    """Gather the facts for an answer.

    They are the answer as the template gives it, the digest of its run, and for one task's `why`
    the transcripts of trials that did not pass, cut to a bound.
    """
    lines = answer.text.splitlines()
    own = [line for line in lines if not line.startswith(_QUOTED)]
    measured, recorded = ["\n".join(own)], [line for line in lines if line.startswith(_QUOTED)]
    if run_id is not None:
        try:
            _, report = results_so_far(deps.results_dir, run_id)
            measured.append(f"Digest of the run: {digest_of(report).model_dump_json()}")
            recorded += _transcripts(intent, run_id, deps)
        except GreenroomError:
            measured.append("The run's files cannot be read.")
    return Facts(
        measured=escape_markdown("\n\n".join(measured)),
        recorded=escape_markdown("\n".join(recorded)[:MOST_TRANSCRIPT]),
    )


def _transcripts(intent: Intent, run_id: str, deps: ConversationDeps) -> Iterator[str]:
    """Yield transcripts of trials of one task that did not pass, without secrets."""
    if not isinstance(intent, Why) or intent.task_id is None:
        return
    lost = [
        record
        for record in iter_trials(deps.results_dir, run_id)
        if record.row.task_id.lower() == intent.task_id.lower()
        and (intent.agent is None or agent_key(record.row.participant) == agent_key(intent.agent))
        and intent.domain in (None, record.row.domain)
        and not record.row.passed
    ]
    redactor = ModelRedactor(deps.secrets)
    for record in lost[:_MOST_TRIALS]:
        yield from _transcript(redactor.model(record.model_copy(update={"evaluations": ()})))


def _transcript(record: TrialRecord) -> Iterator[str]:
    row = record.row
    yield f"Transcript of task {row.task_id}, {row.participant}, trial {row.trial}:"
    for message in record.messages:
        yield f"{message.get('role')}: {_said(message)}"


def _said(message: Mapping[str, Any]) -> str:
    calls = [f"{call['name']}({json.dumps(call.get('arguments'))})" for call in _calls(message)]
    return one_line(" ".join([str(message.get("content") or ""), *calls]), _MOST_MESSAGE)


def _calls(message: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return message.get("tool_calls") or ()
