"""Search and order of the list of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from adk_agent.site.overview import RunLine, ScoreLine

ON_A_PAGE = 100


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One line of the list: a score of a run, or a run without any."""

    run: RunLine
    score: ScoreLine | None


def _number(value: float | None) -> float:
    return -math.inf if value is None else value


_KEYS: dict[str, Callable[[Listed], Any]] = {
    "agent": lambda each: each.score.agent if each.score else "",
    "domain": lambda each: each.score.domain if each.score else "",
    "score": lambda each: _number(each.score.value if each.score else None),
    "floor": lambda each: _number(each.score.floor if each.score else None),
    "trials": lambda each: each.score.trials if each.score else each.run.done or 0,
    "state": lambda each: each.run.state,
    "when": lambda each: (each.run.started_at, each.run.run_id),
}
COLUMNS = tuple(_KEYS)
"""Columns by which the list can be sorted."""
DESCENDING = frozenset({"score", "floor", "trials", "when"})
"""Columns whose first order is from high to low."""


def listed(runs: Sequence[RunLine], *, words: str, sort: str, descending: bool) -> list[Listed]:
    """Return the lines that hold every one of some words, sorted.

    Args:
        runs: All runs.
        words: Parted by spaces; each stands in the run's id, request, state or problem, or in the
            agent, domain or figure of the line.
        sort: One of `COLUMNS`.
        descending: From high to low.
    """
    wanted = words.casefold().split()
    lines = [
        Listed(run=run, score=score)
        for run in runs
        for score in run.scores or (None,)
        if all(word in _text(run, score) for word in wanted)
    ]
    return sorted(lines, key=_KEYS[sort], reverse=descending)


def _text(run: RunLine, score: ScoreLine | None) -> str:
    parts = [run.run_id, run.request, run.state, run.problem or ""]
    if score is not None:
        parts += [score.agent, score.domain, score.figure]
    return " ".join(parts).casefold()
