"""team_of: small teams for tests and examples of metrics."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from evals.graph.interactions import Interactions
from evals.trace import CallType, InteractionStep, Trace

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def team_of(*pairs: Iterable[str], roster: Iterable[str] | None = None) -> Interactions:
    """The interactions of agents that call each other one after the other, a second each.

    Args:
        pairs: Caller and callee of each call.
        roster: All members, where they are known.
    """
    steps = []
    for second, (caller, callee) in enumerate(pairs):
        begin = _BEGIN + timedelta(seconds=second)
        steps.append(
            InteractionStep(
                step_id=f"s{second:04}",
                trace_id="t",
                call_type=CallType.AGENT,
                caller=caller,
                callee=callee,
                start_time=begin,
                end_time=begin + timedelta(seconds=1),
            )
        )
    return Interactions.of(Trace(trace_id="t", steps=tuple(steps)), roster)
