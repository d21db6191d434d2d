"""Once: computes something about a team's interactions one time, however many metrics ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, cast

from evals.graph.interactions import Interactions

T = TypeVar("T")


def once(build: Callable[[Interactions], T]) -> Callable[[Interactions], T]:
    """`build`, whose result is kept with the interactions, as cached_property keeps its values.

    (functools.cache would hash the interactions at each call, which reads every step of them.)
    """
    key = f"{build.__module__}.{build.__qualname__}"

    @wraps(build)
    def kept(team: Interactions) -> T:
        results = vars(team)
        if key not in results:
            results[key] = build(team)
        return cast("T", results[key])

    return kept
