"""step_tree: the steps of a trace by time, each below the step that it was made in."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime

from evals.trace import InteractionStep, Trace

MOST_STEPS = 600
MOST_CALLEES = 60
MOST_DEPTH = 12


def shown_steps(trace: Trace) -> list[tuple[InteractionStep, int]]:
    """Return the steps of `step_tree` that a page has room for."""
    callees: set[str] = set()
    shown: list[tuple[InteractionStep, int]] = []
    for step, depth in step_tree(trace):
        if len(shown) >= MOST_STEPS:
            break
        if step.callee in callees or len(callees) < MOST_CALLEES:
            callees.add(step.callee)
            shown.append((step, depth))
    return shown


def step_tree(trace: Trace) -> list[tuple[InteractionStep, int]]:
    """Return all steps by time, nested ones behind the step that encloses them, with their depth.

    A step without a time stays behind the one that stands before it in the trace. A parent that
    is missing, or is below its own child, does not count.
    """
    steps = trace.steps
    places = {step.step_id: place for place, step in enumerate(steps)}
    children: dict[int | None, list[int]] = defaultdict(list)
    by_time = _by_time(trace)
    for place in by_time:
        parent = steps[place].parent_step_id
        children[None if parent is None else places.get(parent)].append(place)
    ordered: list[tuple[InteractionStep, int]] = []
    done: set[int] = set()
    # All steps once more behind the roots: those in a circle are below no root.
    for root in [*children[None], *by_time]:
        waiting = [(root, 0)]
        while waiting:
            place, depth = waiting.pop()
            if place in done:
                continue
            done.add(place)
            ordered.append((steps[place], min(depth, MOST_DEPTH)))
            waiting += [(child, depth + 1) for child in reversed(children[place])]
    return ordered


def _by_time(trace: Trace) -> list[int]:
    last = datetime.min.replace(tzinfo=UTC)
    begun = []
    for place, step in enumerate(trace.steps):
        last = step.start_time or last
        begun.append((last, place))
    return [place for _, place in sorted(begun)]
