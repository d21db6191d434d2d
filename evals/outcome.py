"""Scored, unscored with a reason, or failed with a reason: the only three ways a result can end.

Nothing here turns a missing number into 0. `produced_by` says who made a result.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Fault = Literal["agent", "user", "infrastructure", "harness"]
"""The side on which something broke: the agent under test, our simulated user, what lies between
(network, keys, services), or the assessor's own code and data. Only the agent's side is ever scored."""


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


AgentErrorKind = Literal["agent_error", "gave_up", "no_reply"]
"""`gave_up`: it rejected or canceled its own task. `no_reply`: it took too long, although its card
answers. `agent_error`: everything else, such as an error answer or one that cannot be read."""


class AgentErrorEnd(_Result):
    """An error of the agent that ended a trial."""

    kind: AgentErrorKind
    text: str
    """The agent's own words first, where it sent any."""


class Scored(_Result):
    """A value was computed."""

    status: Literal["scored"] = "scored"
    value: float
    produced_by: str
    """The maker of the value: `rules`, `llm:<model>`, `recorded`."""
    agent_error: AgentErrorEnd | None = None
    """The agent's error, where that ended the trial; the value is 0 then."""


class Unscored(_Result):
    """The value is undefined here, or something needed for it is missing."""

    status: Literal["unscored"] = "unscored"
    reason: str


class Failed(_Result):
    """Computing the value broke. Never to be read as a low value."""

    status: Literal["failed"] = "failed"
    reason: str
    fault: Fault


Outcome = Annotated[Scored | Unscored | Failed, Field(discriminator="status")]


class Check(_Result):
    """One statement that a component looked at, for example one gold action."""

    description: str
    met: bool | None
    """None: could not be decided."""
    reason: str | None = None


class Component(_Result):
    """One component of a task's reward: its outcome (0.0 to 1.0) and what it looked at."""

    name: str
    """The benchmark's name for it."""
    outcome: Outcome
    checks: tuple[Check, ...] = ()


class TaskResult(_Result):
    """All components of one played task, and which of them the reward multiplies.

    Every component is kept, whether the basis names it or not, also for conversations that
    were cut off.
    """

    basis: tuple[str, ...]
    components: tuple[Component, ...]
    premature_end: str | None = None
    """The termination reason where the conversation was cut off; the reward is then 0."""
