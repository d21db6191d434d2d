"""The tasks of recorded conversations beside those of today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adk_agent.play.regrade import Regraded

_HEADER = ("task today", "simulations", "equal", "different", "not compared")
_GONE = "gone"
_KINDS = ("the same", "changed, but not what is scored", "scored differently", _GONE)


def change_lines(simulations: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line for each changed task, with the parts of its definition that differ."""
    changed = {row["task_id"]: row["task_changes"] for row in simulations if row["task_changes"]}
    return [f"task {task_id} changed: {', '.join(parts)}" for task_id, parts in changed.items()]


def task_table(outcome: Regraded) -> Iterator[str]:
    """Yield the lines of a table: what became of the tasks, and of the rewards on them."""
    different = {*outcome.different, *outcome.different_by_task}
    rows: list[tuple[str, ...]] = [_HEADER]
    for kind in _KINDS:
        of_kind = [row for row in outcome.simulations if _kind(row) == kind]
        compared = [row for row in of_kind if row["reason"] is None]
        differ = sum(row["id"] in different for row in compared)
        counts = (len(of_kind), len(compared) - differ, differ, len(of_kind) - len(compared))
        if of_kind:
            rows.append((kind, *map(str, counts)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for name, *numbers in rows:
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        yield "  ".join((name.ljust(widths[0]), *cells))


def _kind(row: Mapping[str, Any]) -> str:
    if row["task_changes"] is None:
        return _GONE
    if row["scored_differently"]:
        return _KINDS[2]
    return _KINDS[1] if row["task_changes"] else _KINDS[0]
