"""Traces of small teams for the tests of judges."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from evals.trace import CallType, InteractionStep, Trace

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def at(seconds):
    return NOON + timedelta(seconds=seconds)


def step(step_id, caller, callee, start, end, **more):
    """A call that takes from `start` to `end`, in seconds; times may be None."""
    given = {
        "call_type": CallType.AGENT,
        "request_text": f"question {step_id}",
        "response_text": f"answer {step_id}",
        **more,
    }
    return InteractionStep(
        step_id=step_id,
        trace_id="t",
        caller=caller,
        callee=callee,
        start_time=None if start is None else at(start),
        end_time=None if end is None else at(end),
        **given,
    )


def from_user(step_id, callee, start, end, **more):
    """The step that encloses what the agents do."""
    attributes = {"caller_kind": "user"}
    return step(step_id, "user", callee, start, end, additional_attributes=attributes, **more)


def trace(*steps):
    return Trace(trace_id="t", steps=steps)


def star():
    """An entry agent that asks four others, the last of which fails: 0.2 + 0.3 points off."""
    calls = [
        step(f"c{n}", "entry", f"m{n}", n, n + 0.5, parent_step_id="root") for n in range(1, 4)
    ]
    failed = step("c4", "entry", "m4", 4, 4.5, parent_step_id="root", error="it broke")
    return trace(from_user("root", "entry", 0, 6), *calls, failed)


def ring():
    """Four agents, each of which asks the next one; nothing is wrong with it."""
    names = ("a", "b", "c", "d")
    pairs = zip(names, (*names[1:], names[0]), strict=True)
    return trace(*(step(f"c{n}", *pair, n, n + 0.5) for n, pair in enumerate(pairs)))


def dyad():
    return trace(step("c1", "green", "purple", 0, 1), step("c2", "green", "purple", 2, 3))


@pytest.fixture
def teams():
    """The builders of traces."""
    return SimpleNamespace(
        step=step,
        from_user=from_user,
        trace=trace,
        star=star,
        ring=ring,
        dyad=dyad,
    )
