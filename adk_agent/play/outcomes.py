"""outcome_of: what a trial that broke has come to, and on whose side."""

from __future__ import annotations

from collections.abc import Callable

from adk_agent.core.errors import ModelError
from adk_agent.results.summary import NOT_EVALUATED
from evals.outcome import AgentErrorEnd, AgentErrorKind, Failed, Fault, Outcome, Scored
from tau_bridge.errors import (
    AgentAccessError,
    AgentCanceledError,
    AgentError,
    AgentFaultError,
    AgentRejectedError,
    AgentSilentError,
    BridgeError,
)

_BROKEN_BY: dict[Fault | None, str] = {
    "agent": "agent_error",
    "infrastructure": "infrastructure_error",
}
"""The termination of a conversation that broke, by the side at fault."""


def outcome_of(error: BaseException, *, redact: Callable[[str], str] = str) -> Scored | Failed:
    """Return the outcome of a trial that `error` ended: 0 where the agent is at fault, else none.

    Args:
        error: What ended it.
        redact: Takes out of its text what must not be told.
    """
    text = redact(str(error))
    if isinstance(error, AgentFaultError):
        ending = AgentErrorEnd(kind=_kind_of(error), text=text)
        return Scored(value=0.0, produced_by="rules", agent_error=ending)
    if isinstance(error, AgentAccessError):
        return Failed(reason=f"{NOT_EVALUATED}{text}", fault=error.fault)
    if isinstance(error, AgentError):
        return Failed(reason=text, fault=error.fault)
    fault: Fault = "infrastructure" if isinstance(error, ModelError) else "harness"
    if isinstance(error, BridgeError):
        fault = error.fault
    return Failed(reason=f"{type(error).__name__}: {text}", fault=fault)


def _kind_of(error: AgentFaultError) -> AgentErrorKind:
    if isinstance(error, AgentRejectedError | AgentCanceledError):
        return "gave_up"
    return "no_reply" if isinstance(error, AgentSilentError) else "agent_error"


def fault_of(outcome: Outcome) -> Fault | None:
    """On whose side a trial broke; None where it was played to its end."""
    if isinstance(outcome, Scored):
        return None if outcome.agent_error is None else "agent"
    return outcome.fault if isinstance(outcome, Failed) else None


def broken_end(outcome: Outcome) -> str:
    """Name the termination of a conversation that broke; `outcome` tells who is at fault."""
    return _BROKEN_BY.get(fault_of(outcome), "harness_error")
