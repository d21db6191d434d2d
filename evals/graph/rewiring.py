"""Percentiles of a team among random graphs in which every agent has the same degrees.

The random graphs are made from the team's own by curveball trades: two agents throw the callees
that only one of them has into one pot and draw as many as before from it. A trade is a number of
directed edge swaps at once, and like them keeps how many agents each one calls and is called by,
and makes no self-calls. Every caller's numbers of calls stay with the caller and fall on its new
callees at random. Strona et al. 2014, "A fast and unbiased procedure to randomize ecological
binary matrices"; Carstens, Berger and Strona 2018 on directed graphs.

Like swaps, trades never turn a directed triangle round. A graph that differs from the team's by
such a turn alone is not among the random ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from evals.graph import matrices
from evals.graph.interactions import Interactions
from evals.graph.matrices import Distances, Flags, Floats
from evals.graph.view import MATRIX_AGENTS, GraphView

SAMPLES = 100
SAMPLES_OF_MANY = 50
"""Used above MANY_AGENTS: the time grows with the third power of their number, and
in long thin teams with the fourth."""
MANY_AGENTS = 30
SEED = 20_240_614
MAX_AGENTS = MATRIX_AGENTS
_ROUNDS = 10
"""Trades of each agent. From about five on the means of the metrics stay where they are."""


class Percentile(BaseModel):
    """The place of an observed value among those of random graphs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float | None
    """Share of the random graphs whose value is at most the observed one, 0 to 1."""
    observed: float | None = None
    mean: float | None = None
    """Mean over the random graphs."""
    samples: int = 0
    reason: str | None = None
    """Why there is no percentile; None where there is one."""


def percentiles(
    team: Interactions, *, samples: int | None = None, seed: int = SEED
) -> dict[str, Percentile]:
    """Compare a team with random graphs of the same degrees, by each of the metrics in `NAMES`.

    Args:
        team: Whose calls to compare.
        samples: How many random graphs, at least 1; by default SAMPLES, and SAMPLES_OF_MANY
            where there are more than MANY_AGENTS.
        seed: The same gives the same random graphs.

    Returns:
        Percentiles by the name of the metric; without a value, with the reason, where the degrees
        leave no other graph, or the graph is too large.
    """
    reason = _not_comparable(team)
    if reason is not None:
        return {name: Percentile(value=None, reason=reason) for name in NAMES}
    graph = GraphView.of(team)
    present, calls = graph.present, np.zeros(graph.present.shape)
    calls[graph.callers, graph.callees] = graph.calls
    if not _can_trade(present):
        reason = "no other graph: trades of callees between agents cannot change this one"
        return {name: Percentile(value=None, reason=reason) for name in NAMES}
    count = samples or (SAMPLES if graph.size <= MANY_AGENTS else SAMPLES_OF_MANY)
    random = _rewired(present, calls, count, np.random.default_rng(seed))
    observed = _Stack(present[None], calls[None])
    return {name: _percentile(name, observed, random) for name in NAMES}


def _not_comparable(team: Interactions) -> str | None:
    if len(team.members) > MAX_AGENTS:
        found = f"there are {len(team.members)}"
        return f"too large: compared with random graphs up to {MAX_AGENTS} agents, {found}"
    return team.too_few(3)


def _percentile(name: str, observed: _Stack, random: _Stack) -> Percentile:
    if name == _DENSITY:
        reason = "fixed: all graphs of the same size and number of connections have this density"
        return Percentile(value=None, reason=reason)
    # Rounded, so that equal graphs have equal values whatever the order of summation.
    value = float(np.round(_MEASURES[name](observed), 12)[0])
    values = np.round(_MEASURES[name](random), 12)
    return Percentile(
        value=float((values <= value).mean()),
        observed=value,
        mean=round(float(values.mean()), 12),
        samples=len(values),
    )


class _Stack:
    """Graphs of the same size as matrices, [graph, caller, callee], with their measures."""

    def __init__(self, present: Flags, calls: Floats) -> None:
        self.present = present
        self.calls = calls
        self.size = present.shape[1]

    @cached_property
    def projection(self) -> Flags:
        both: Flags = self.present | self.present.transpose(0, 2, 1)
        return both

    @cached_property
    def distances(self) -> Distances:
        return matrices.distances(self.present)

    @cached_property
    def betweenness(self) -> Floats:
        total = matrices.betweenness(self.projection)
        return np.asarray(total / ((self.size - 1) * (self.size - 2)))


def _betweenness_centralization(stack: _Stack) -> Floats:
    values = stack.betweenness
    spread: Floats = (values.max(axis=1, keepdims=True) - values).sum(axis=1) / (stack.size - 1)
    return spread


def _degree_centralization(stack: _Stack) -> Floats:
    degrees = stack.projection.sum(axis=2)
    spread = (degrees.max(axis=1, keepdims=True) - degrees).sum(axis=1)
    return np.asarray(spread / ((stack.size - 1) * (stack.size - 2)))


def _clustering_coefficient(stack: _Stack) -> Floats:
    near = stack.projection.astype(np.float64)
    degrees = near.sum(axis=2)
    closed = ((near @ near) * near).sum(axis=2)
    return np.asarray((closed / np.maximum(degrees * (degrees - 1), 1)).mean(axis=1))


def _average_path_length(stack: _Stack) -> Floats:
    reached = stack.distances > 0
    total = np.where(reached, stack.distances, 0).sum(axis=(1, 2), dtype=np.int64)
    return np.asarray(total / reached.sum(axis=(1, 2)))


def _global_efficiency(stack: _Stack) -> Floats:
    inverse = np.where(stack.distances > 0, 1 / np.maximum(stack.distances, 1), 0.0)
    return np.asarray(inverse.sum(axis=(1, 2)) / (stack.size * (stack.size - 1)))


def _hierarchy(stack: _Stack) -> Floats:
    reached = stack.distances > 0
    mutual = (reached & reached.transpose(0, 2, 1)).sum(axis=(1, 2)) / 2
    return np.asarray(1 - mutual / (reached.sum(axis=(1, 2)) - mutual))


def _weighted_reciprocity(stack: _Stack) -> Floats:
    matched = np.minimum(stack.calls, stack.calls.transpose(0, 2, 1)).sum(axis=(1, 2))
    return np.asarray(matched / stack.calls.sum(axis=(1, 2)))


_MEASURES: dict[str, Callable[[_Stack], Floats]] = {
    "degree_centralization": _degree_centralization,
    "betweenness_centralization": _betweenness_centralization,
    "clustering_coefficient": _clustering_coefficient,
    "average_path_length": _average_path_length,
    "global_efficiency": _global_efficiency,
    "hierarchy": _hierarchy,
    "weighted_reciprocity": _weighted_reciprocity,
}
_DENSITY = "density"
NAMES = (_DENSITY, *_MEASURES)
"""The metrics that are compared."""


def _can_trade(present: Flags) -> bool:
    """Check whether two agents each have a callee that the other lacks, and is not."""
    one = present.astype(np.float64)
    # Callees of i that j lacks, and that are not j itself.
    only = one @ (1 - one).T - one
    np.fill_diagonal(only, 0)
    return bool(((only > 0) & (only.T > 0)).any())


def _rewired(present: Flags, calls: Floats, samples: int, random: np.random.Generator) -> _Stack:
    stack = np.repeat(present[None], samples, axis=0)
    numbers = np.tile(np.arange(len(present)), (samples, 1))
    for _ in range(_ROUNDS):
        _trade_all(stack, random.permuted(numbers, axis=1), random)
    return _Stack(stack, _with_calls(stack, calls, random))


def _trade_all(stack: Flags, order: npt.NDArray[np.int64], random: np.random.Generator) -> None:
    """Let the agents of each graph trade in pairs, the first half of `order` with the second."""
    half = order.shape[1] // 2
    graph = np.arange(len(stack))[:, None]
    one, other = order[:, :half], order[:, half : 2 * half]
    mine, theirs = stack[graph, one], stack[graph, other]
    pot = mine ^ theirs
    # Neither may draw itself: both stay out of the pot.
    np.put_along_axis(pot, one[..., None], False, axis=2)
    np.put_along_axis(pot, other[..., None], False, axis=2)
    drawn = _drawn(pot, (pot & mine).sum(axis=2), random)
    stack[graph, one] = np.where(pot, drawn, mine)
    stack[graph, other] = np.where(pot, ~drawn, theirs)


def _drawn(pot: Flags, count: npt.NDArray[np.int64], random: np.random.Generator) -> Flags:
    """Choose `count` places of each row of `pot` at random."""
    keys = np.where(pot, random.random(pot.shape, dtype=np.float64), 2.0)
    ordered = np.sort(keys, axis=2)
    last = np.minimum(count, pot.shape[2] - 1)[..., None]
    drawn: Flags = keys < np.take_along_axis(ordered, last, axis=2)
    return drawn & pot


def _with_calls(stack: Flags, calls: Floats, random: np.random.Generator) -> Floats:
    """Distribute the numbers of calls of each caller over its callees in random order."""
    size = len(calls)
    counts = -np.sort(-calls, axis=1)  # of each caller: as many above 0 as it has callees
    order = np.argsort(np.where(stack, random.random(stack.shape), 2.0), axis=2)
    placed = np.zeros(stack.shape)
    np.put_along_axis(placed, order, np.broadcast_to(counts, (len(stack), size, size)), axis=2)
    return placed
