"""Diagnosis: why a trial did not pass, and what shows it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from evals.outcome import Fault

FailureKind = Literal[
    "wrong_write",
    "missing_write",
    "policy",
    "communication",
    "format",
    "loop",
    "gave_up",
    "agent_error",
    "no_reply",
    "user_simulator",
    "infrastructure",
    "harness",
    "undetermined",
]
"""What a trial failed of. `undetermined`: it did not pass, and nothing that is known says why."""


class _Evidence(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CallDifference(_Evidence):
    """One call in which a conversation and its gold path differ."""

    how: Literal["missing", "superfluous", "differs"]
    """Missing: gold, and not made. Superfluous: made, and not gold. Differs: in its arguments."""
    name: str
    requestor: Literal["assistant", "user"] = "assistant"
    arguments: dict[str, Any] | None = None
    """As it was made; None where it is missing."""
    expected: dict[str, Any] | None = None
    """As it should have been made; None where it is superfluous."""
    differing: tuple[str, ...] = ()
    """The names of the arguments that differ."""
    message: int | None = None
    """The place of its message in the conversation, from 0; None where it is missing."""


class Divergence(_Evidence):
    """Where the world first left the gold path for good."""

    message: int
    """The place of the message in the conversation, from 0."""
    call: str
    """The tool that was called."""
    step_id: str | None = None
    """Of the trace, where it is known."""


class ReplyFormat(_Evidence):
    """Replies of the agent in which no call could be read."""

    repairs: dict[str, int]
    """How many replies hold no call, by the kind of their repair."""
    replies: int
    """Of the agent, in all."""
    example: str
    """What one of them said, on one line, cut where it is long."""
    expected: tuple[str, ...] = ()
    """Two replies as they should look: a call of a tool, and words to the user."""


class Diagnosis(_Evidence):
    """Why one trial did not pass."""

    kind: FailureKind
    """The one that the others follow from, as far as it can be told."""
    also: tuple[FailureKind, ...] = ()
    side: Fault
    """On whose side it lies."""
    summary: str
    """In one sentence, with the figures."""
    departure: Divergence | None = None
    calls: tuple[CallDifference, ...] = ()
    not_communicated: tuple[str, ...] = ()
    """What the user should have been told and was not."""
    reply_format: ReplyFormat | None = None
    """How the agent wrote, where that is among the reasons."""
    findings: tuple[str, ...] = ()
    """Other evidence, a sentence each."""
    produced_by: str = "rules"
