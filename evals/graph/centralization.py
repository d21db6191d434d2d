"""Centralization: how far a team is from equal, towards one agent in the middle.

Freeman's construction: the differences between the highest value and each one, added up and
divided by what a star, the most central of all graphs, has there. Undefined below 3 members.
"""

from __future__ import annotations

import numpy as np

from evals.graph.matrices import Floats, Ints
from evals.graph.metric import Computed, Undefined
from evals.graph.view import GraphMetric, GraphView, settled


class _Centralization(GraphMetric):
    source = "Freeman 1978, Centrality in social networks: conceptual clarification"
    needs = "at least 3 members and a call between two agents"
    least = 3


class DegreeCentralization(_Centralization):
    """Centralization of the number of neighbours."""

    name = "degree_centralization"
    formula = "sum(max d - d(v)) / ((n - 1)(n - 2)), d: neighbours in the undirected projection"
    range = "0 (all alike, as in a ring) to 1 (star)"

    def measure(self, graph: GraphView) -> Computed:
        """Return the centralization."""
        return settled(_spread(graph.degrees) / ((graph.size - 1) * (graph.size - 2)))


class OutDegreeCentralization(_Centralization):
    """Centralization of the number of agents that an agent calls."""

    name = "out_degree_centralization"
    formula = "sum(max d+ - d+(v)) / (n - 1)^2, d+: distinct agents called"
    source = (
        "Freeman 1978, Centrality in social networks: conceptual clarification; for directed graphs "
        "after Wasserman and Faust 1994, Social Network Analysis, chapter 5"
    )
    range = "0 (all alike) to 1 (one agent calls all others, nobody else calls)"

    def measure(self, graph: GraphView) -> Computed:
        """Return the centralization."""
        called = np.bincount(graph.callers, minlength=graph.size)
        return settled(_spread(called) / (graph.size - 1) ** 2)


class BetweennessCentralization(_Centralization):
    """Centralization of betweenness."""

    name = "betweenness_centralization"
    formula = "sum(max b - b(v)) / (n - 1), b: normalised betweenness, undirected projection"
    range = "0 (all alike, as in a ring) to 1 (star)"

    def measure(self, graph: GraphView) -> Computed:
        """Return the centralization."""
        found = graph.betweenness
        if isinstance(found, Undefined):
            return found
        return settled(_spread(found) / (graph.size - 1))


def _spread(values: Floats | Ints) -> float:
    return float((values.max() - values).sum())


METRICS: tuple[type[GraphMetric], ...] = (
    DegreeCentralization,
    OutDegreeCentralization,
    BetweennessCentralization,
)
