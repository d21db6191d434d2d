"""memoize: compute something about a team once, however many metrics read it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, cast

from evals.graph.interactions import Interactions

T = TypeVar("T")


def memoize(compute: Callable[[Interactions], T]) -> Callable[[Interactions], T]:
    """Keep the result of `compute` with the interactions, as cached_property keeps its values.

    (functools.cache would hash the interactions at each call, which reads every step of them.)
    """
    key = f"{compute.__module__}.{compute.__qualname__}"

    @wraps(compute)
    def memoized(team: Interactions) -> T:
        results = vars(team)
        if key not in results:
            results[key] = compute(team)
        return cast("T", results[key])

    return memoized
