"""Diagnosis: why a trial did not pass, and what shows it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from evals.outcome import Fault

FailureKind = Literal[
    "wrong_write",
    "missing_write",
    "policy",
    "hijacked",
    "communication",
    "teamwork",
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
"""The reason for a failure. `teamwork`: the members did not ask each other as the task demands.
`hijacked`: it did what a text in a tool's result demanded, not its user.
`undetermined`: the trial did not pass, and no rule says why."""


class _Evidence(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CallDifference(_Evidence):
    """One call in which a conversation and its gold path differ."""

    how: Literal["missing", "superfluous", "differs"]
    """Missing: gold, and not made. Superfluous: made, and not gold. Differs: in its arguments."""
    name: str
    requestor: Literal["assistant", "user"] = "assistant"
    arguments: dict[str, Any] | None = None
    """The arguments of the call; None where it is missing."""
    expected: dict[str, Any] | None = None
    """The arguments of the gold call; None where the call is superfluous."""
    differing: tuple[str, ...] = ()
    """The names of the arguments that differ."""
    message: int | None = None
    """The place of its message in the conversation, from 0; None where it is missing."""


class Divergence(_Evidence):
    """The place where the world first left the gold path for good."""

    message: int
    """The place of the message in the conversation, from 0."""
    call: str
    """The tool that was called."""
    step_id: str | None = None
    """The step of the trace, where it is known."""


class ReplyFormat(_Evidence):
    """Replies of the agent in which no call could be read."""

    repairs: dict[str, int]
    """Number of replies that hold no call, by the kind of their repair."""
    replies: int
    """Number of the agent's replies, in all."""
    example: str
    """The text of one of them, on one line, cut where it is long."""
    expected: tuple[str, ...] = ()
    """Two replies as they should look: a call of a tool, and words to the user."""


class Diagnosis(_Evidence):
    """The reason why one trial did not pass."""

    kind: FailureKind
    """The cause of the others, as far as it can be told."""
    also: tuple[FailureKind, ...] = ()
    side: Fault
    """The side at fault."""
    summary: str
    """One sentence with the figures."""
    departure: Divergence | None = None
    calls: tuple[CallDifference, ...] = ()
    not_communicated: tuple[str, ...] = ()
    """Facts that the user should have been told and was not."""
    reply_format: ReplyFormat | None = None
    """The agent's form of replies, where that is among the reasons."""
    findings: tuple[str, ...] = ()
    """Other evidence, a sentence each."""
    produced_by: str = "rules"
