"""Paths: how far work travels along the calls, and who can reach whom.

All on the directed, unweighted graph. Averages go over the pairs that are connected at all; what
share those are stands beside.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from evals.graph.matrices import Ints
from evals.graph.metric import Computed, Detailed
from evals.graph.view import GraphMetric, GraphView, settled


class PathMetric(GraphMetric):
    """A metric of how many ordered pairs of agents have a shortest path of which length."""

    needs = "a call between two agents"

    def measure(self, graph: GraphView) -> Computed:
        """Return the value, unless the graph is too large for all shortest paths."""
        if graph.too_large is not None:
            return graph.too_large
        return self.of_lengths(graph.path_lengths[1:], graph.size * (graph.size - 1))

    @abstractmethod
    def of_lengths(self, pairs: Ints, possible: int) -> Computed:
        """Return the value where `pairs[i]` of `possible` ordered pairs are i + 1 calls apart."""


class AveragePathLength(PathMetric):
    """Calls between two agents on average, where one can reach the other."""

    name = "average_path_length"
    formula = "mean of d(u, v) over ordered pairs with a directed path; unreachable pairs left out"
    source = "Watts and Strogatz 1998, Collective dynamics of small-world networks"
    range = "1 (every reachable agent is called directly) to n - 1"

    def of_lengths(self, pairs: Ints, possible: int) -> Computed:
        """Return the mean, with the share of pairs that it goes over."""
        return _over_reachable(float((pairs * _steps(pairs)).sum() / pairs.sum()), pairs, possible)


class Diameter(PathMetric):
    """Calls between the two agents farthest apart, where one can reach the other."""

    name = "diameter"
    formula = "max of d(u, v) over ordered pairs with a directed path; unreachable pairs left out"
    source = "Harary 1969, Graph Theory"
    range = "1 to n - 1"

    def of_lengths(self, pairs: Ints, possible: int) -> Computed:
        """Return the longest, with the share of pairs that it goes over."""
        return _over_reachable(float(len(pairs)), pairs, possible)


class ReachableFraction(PathMetric):
    """Share of ordered pairs of agents in which the first can reach the second along calls."""

    name = "reachable_fraction"
    formula = "ordered pairs with a directed path / (n (n - 1))"
    source = "this project; after connectedness in Krackhardt 1994, which ignores directions"
    range = "above 0 to 1 (everybody reaches everybody)"

    def of_lengths(self, pairs: Ints, possible: int) -> Computed:
        """Return the share."""
        return settled(pairs.sum() / possible)


class GlobalEfficiency(PathMetric):
    """Mean directness with which agents reach each other."""

    name = "global_efficiency"
    formula = "mean of 1 / d(u, v) over all ordered pairs, directed; 0 where there is no path"
    source = "Latora and Marchiori 2001, Efficient behavior of small-world networks"
    range = "above 0 to 1 (everybody calls everybody)"

    def of_lengths(self, pairs: Ints, possible: int) -> Computed:
        """Return the mean."""
        return settled((pairs / _steps(pairs)).sum() / possible)


def _steps(pairs: Ints) -> Ints:
    return np.arange(1, len(pairs) + 1)


def _over_reachable(value: float, pairs: Ints, possible: int) -> Detailed:
    reachable = settled(pairs.sum() / possible)
    return Detailed(value=settled(value), details={"reachable_fraction": reachable})


METRICS: tuple[type[GraphMetric], ...] = (
    AveragePathLength,
    Diameter,
    ReachableFraction,
    GlobalEfficiency,
)
