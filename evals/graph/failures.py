"""Metrics of failed calls: do they spread, are they made good, does anybody notice?

Each failed call of an agent or a tool is

- *recovered* if a call with the same kind, callee and arguments succeeded that began after the
  failed one had ended and is not below it,
- *propagated* if the step above it failed too,
- *silent* if neither holds, and the step in whose course the caller made the call is visible and did
  not fail: the caller went on as if nothing had happened,
- *unknown* if neither holds and that step is not visible, so the trace does not tell.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pydantic import JsonValue

from evals.graph.handoffs import UNKNOWN_ARGUMENTS, UNKNOWN_OUTCOMES
from evals.graph.interactions import Call, Interactions
from evals.graph.memoize import memoize
from evals.graph.metric import Computed, Detailed, Metric, PerAgent, Undefined
from evals.graph.nesting import callers_steps_of
from evals.graph.recovery import recovered_calls
from evals.graph.repeats import inner_steps

NO_STEP = "empty: no call of an agent or a tool"
NO_FAILURE = "no failed call"
UNKNOWN_CALLERS = "unknown callers: no step above shows what the callers of the failed calls did"


@dataclass(frozen=True, kw_only=True)
class Failures:
    """The failed calls of a team, each in order. A call can be recovered and propagated."""

    failed: tuple[Call, ...]
    recovered: tuple[Call, ...]
    propagated: tuple[Call, ...]
    silent: tuple[Call, ...]
    unknown: tuple[Call, ...]


@memoize
def failures_of(team: Interactions) -> Failures:
    """Sort the failed calls by what became of them."""
    failed = tuple(call for call in inner_steps(team) if call.failed)
    if not failed:
        return Failures(failed=(), recovered=(), propagated=(), silent=(), unknown=())
    recovered = recovered_calls(team)
    propagated = tuple(c for c in failed if c.parent is not None and team.steps[c.parent].failed)
    noticed = {call.index for call in (*recovered, *propagated)}
    left = [(c, callers_steps_of(team)[c.index]) for c in failed if c.index not in noticed]
    return Failures(
        failed=failed,
        recovered=recovered,
        propagated=propagated,
        silent=tuple(c for c, own in left if own is not None and not team.steps[own].failed),
        unknown=tuple(c for c, own in left if own is None),
    )


@memoize
def failed_members(team: Interactions) -> tuple[str, ...]:
    """List the members all of whose calls received from agents failed, in alphabetical order."""
    received, failed = _received(team)
    return tuple(member for member in sorted(received) if failed[member] == received[member])


@memoize
def _received(team: Interactions) -> tuple[Counter[str], Counter[str]]:
    """Count the calls of others that each member received, and those of them that failed."""
    received = Counter([call.callee for call in team.calls])
    failed = Counter([call.callee for call in team.calls if call.failed])
    return received, failed


class FailurePropagation(Metric):
    """Share of the failures that take the caller down with them."""

    name = "failure_propagation"
    formula = "failed calls below a step that failed too / failed calls"
    source = "this project"
    range = "0 (every failure was contained) to 1 (each went up one level at least)"
    needs = "a failed call"

    def compute(self, team: Interactions) -> Computed:
        """Return the share, with the counts behind it."""
        failures = failures_of(team)
        if team.unknown_outcomes:
            return Undefined(UNKNOWN_OUTCOMES)
        if not failures.failed:
            return Undefined(NO_FAILURE)
        return _share(len(failures.propagated), len(failures.failed), "propagated")


class FailureRecovery(Metric):
    """Share of the failures that are made good."""

    name = "failure_recovery"
    formula = (
        "failed calls after whose end a call with the same kind, callee and arguments, not below "
        "the failed one, began and succeeded / failed calls whose arguments are known; where a "
        "time is unknown, the order of the calls decides"
    )
    version = "2"
    source = "this project"
    range = "0 (none made good) to 1 (all)"
    needs = "a failed call whose arguments are known"

    def compute(self, team: Interactions) -> Computed:
        """Return the share, with the counts behind it."""
        failures = failures_of(team)
        if team.unknown_outcomes:
            return Undefined(UNKNOWN_OUTCOMES)
        if not failures.failed:
            return Undefined(NO_FAILURE)
        known = sum(call.arguments is not None for call in failures.failed)
        if not known:
            return Undefined(UNKNOWN_ARGUMENTS)
        return _share(len(failures.recovered), known, "recovered")


class SilentFailures(Metric):
    """Number of failures without a reaction."""

    name = "silent_failures"
    formula = (
        "failed calls that were not recovered, whose parent did not fail, and whose caller's own "
        "step, the closest one above that the caller answers, is visible and did not fail"
    )
    source = "this project"
    range = "0 (none) and more"
    needs = (
        "a call of an agent or a tool; where calls failed, one of them recovered, propagated, or "
        "with its caller's own step visible"
    )
    version = "2"

    def compute(self, team: Interactions) -> Computed:
        """Return the number of silent failures, and that of the unknown ones."""
        if not inner_steps(team):
            return Undefined(NO_STEP)
        if team.unknown_outcomes:
            return Undefined(UNKNOWN_OUTCOMES)
        failures = failures_of(team)
        failed, unknown = len(failures.failed), len(failures.unknown)
        if failed and unknown == failed:
            return Undefined(f"{UNKNOWN_CALLERS} ({unknown})")
        details: dict[str, JsonValue] = {"failed_calls": failed, "unknown": unknown}
        return Detailed(value=float(len(failures.silent)), details=details)


class FailedShare(Metric):
    """Share of the calls that fail. By member: of the calls that it received from agents."""

    name = "failed_share"
    formula = (
        "failed calls of agents and tools / all of them; by member: failed / all calls that it "
        "received from agents"
    )
    source = "this project"
    range = "0 (nothing failed) to 1 (everything did)"
    needs = "a call of an agent or a tool"

    def compute(self, team: Interactions) -> Computed:
        """Return the share over all calls; members that nobody called are skipped."""
        steps = inner_steps(team)
        if not steps:
            return Undefined(NO_STEP)
        if team.unknown_outcomes:
            return Undefined(UNKNOWN_OUTCOMES)
        received, failed = _received(team)
        return PerAgent(
            values={member: failed[member] / count for member, count in received.items()},
            value=len(failures_of(team).failed) / len(steps),
            skipped={m: "received no call" for m in team.members if m not in received},
        )


def _share(count: int, of: int, what: str) -> Computed:
    return Detailed(value=count / of, details={what: count, "failed_calls": of})


METRICS: tuple[type[Metric], ...] = (
    FailurePropagation,
    FailureRecovery,
    SilentFailures,
    FailedShare,
)
