"""Transcript: one trial as markdown: how it ended, why, and everything that was said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adk_agent.conversation.telling import short
from adk_agent.conversation.why import SPEAKERS, verdict_lines
from adk_agent.core.escaping import escape_markdown
from adk_agent.runs.store import TrialRecord

MOST_MESSAGES = 400
"""Messages of one transcript; of a longer conversation, the last ones."""
MOST_TEXT = 8_000
"""Characters of one message, call or result."""


def transcript(record: TrialRecord) -> str:
    """Return a trial as markdown. What user, agent and tools said is quoted and escaped."""
    row = record.row
    lines = [f"# Task {short(row.task_id)} of {row.domain}", "", *verdict_lines(row)]
    left_out = max(0, len(record.messages) - MOST_MESSAGES)
    lines += ["", f"## Conversation ({len(record.messages)} messages)"]
    if left_out:
        lines += ["", f"The first {left_out} messages are left out; they are in trials.jsonl."]
    for number, message in enumerate(record.messages[left_out:], start=left_out + 1):
        role = str(message.get("role", ""))
        lines += ["", f"### {number}. {SPEAKERS.get(role, short(role, 20))}", *_said(message)]
    return "\n".join(lines) + "\n"


def _said(message: Mapping[str, Any]) -> list[str]:
    lines = []
    content = message.get("content")
    if isinstance(content, str) and content.strip():
        lines += ["", *_quoted(content)]
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        arguments = json.dumps(call.get("arguments"), ensure_ascii=False)
        lines += ["", *_quoted(f"calls {call.get('name', '')}({arguments})")]
    return lines or ["", "(nothing)"]


def _quoted(text: str) -> list[str]:
    """Return a text as a quotation, so that no line of it passes for one of ours."""
    cut = text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]} ... [{len(text):,} characters]"
    return [f"> {escape_markdown(line)}" for line in cut.splitlines()]
