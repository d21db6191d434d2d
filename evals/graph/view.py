"""GraphView: a team's graph in numbers, with everything that several metrics share computed once.

Agents are numbered in the order in which they first take part in a call; members without calls
come last. So a metric sees the same graph, in the same order, whatever the agents are called.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evals.graph import matrices
from evals.graph.interactions import Interactions
from evals.graph.matrices import Distances, Flags, Floats, Ints
from evals.graph.memoize import memoize
from evals.graph.metric import Computed, Metric, Undefined

if TYPE_CHECKING:
    import networkx as nx

MAX_WORK = 15_000_000
"""The largest product of agents and (agents + connections) for which shortest paths are computed.

A chain of this size takes some six seconds of CPU. No graph of this size has more than 1e261 shortest
paths between two agents (866 layers of two), so that counting them in floats is safe.
"""
MATRIX_AGENTS = 50
"""Up to this many agents matrices are faster than networkx; long chains are slow from 100 on."""


class GraphView:
    """A team's calls as a weighted directed graph without self-calls, and its projection.

    Args:
        names: The agents, by number.
        weights: Calls from one agent, by number, to another.
    """

    def __init__(self, names: Sequence[str], weights: Mapping[tuple[int, int], int]) -> None:
        self.names = tuple(names)
        self.size = len(self.names)
        self.edges = tuple(weights)
        pairs = np.array(self.edges, dtype=np.int64).reshape(-1, 2)
        self.callers: Ints = pairs[:, 0]
        """The number of the caller of each edge."""
        self.callees: Ints = pairs[:, 1]
        """The number of the callee of each edge."""
        self.calls: Floats = np.array(list(weights.values()), dtype=np.float64)
        """The number of calls behind each edge."""

    @classmethod
    def of(cls, team: Interactions) -> GraphView:
        """Return the view of `team`, computed once."""
        return _view_of(team)

    def by_name(self, values: Sequence[float] | Floats) -> dict[str, float]:
        """Return values by number as values by name."""
        return dict(zip(self.names, map(settled, np.asarray(values).tolist()), strict=True))

    @cached_property
    def callees_of(self) -> list[list[int]]:
        """List the agents that each agent calls."""
        return self._listed(self.edges)

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """List the agents that each agent calls or is called by: the undirected projection."""
        both = {*self.edges, *((callee, caller) for caller, callee in self.edges)}
        return self._listed(sorted(both))

    @cached_property
    def degrees(self) -> Ints:
        """Count the neighbours of each agent in the undirected projection."""
        return np.array([len(others) for others in self.neighbours], dtype=np.int64)

    @cached_property
    def components(self) -> list[list[int]]:
        """List the weakly connected components, the largest first, then by their first agent."""
        seen = [False] * self.size
        found = [
            _reached(start, self.neighbours, seen) for start in range(self.size) if not seen[start]
        ]
        return sorted(found, key=len, reverse=True)

    @cached_property
    def too_large(self) -> Undefined | None:
        """Return why shortest paths are not computed here; None where they are."""
        if self.size * (self.size + int(self.degrees.sum())) <= MAX_WORK:
            return None
        return Undefined(
            f"too large: {self.size} agents with {len(self.edges)} connections; shortest paths are"
            f" computed where agents x (agents + connections both ways) is at most {MAX_WORK}"
        )

    @cached_property
    def present(self) -> Flags:
        """Tell for each [caller, callee] whether there is an edge. For small graphs only."""
        present = np.zeros((self.size, self.size), dtype=np.bool_)
        present[self.callers, self.callees] = True
        return present

    @cached_property
    def distances(self) -> Distances:
        """Return the lengths of the shortest directed paths, [from, to]; -1 where there is none.

        Only where the graph is not `too_large`.
        """
        if self.size <= MATRIX_AGENTS:
            return np.asarray(matrices.distances(self.present[None])[0])
        import networkx as nx

        found = np.full((self.size, self.size), -1, dtype=np.int16)
        for source, lengths in nx.all_pairs_shortest_path_length(self.directed):
            found[source, list(lengths)] = list(lengths.values())
        return found

    @cached_property
    def path_lengths(self) -> Ints:
        """Count the ordered pairs that have a shortest directed path of length 0, 1, 2 ...

        The pairs of an agent with itself are among those of length 0. Only where the graph is not
        `too_large`.
        """
        return np.bincount(self.distances.ravel() + 1)[1:]

    @cached_property
    def betweenness(self) -> Floats | Undefined:
        """Return that of each agent in the projection, divided by (n - 1)(n - 2) / 2: 0 to 1."""
        if self.too_large is not None:
            return self.too_large
        if self.size <= MATRIX_AGENTS:
            total = matrices.betweenness((self.present | self.present.T)[None])[0]
            return np.asarray(total / ((self.size - 1) * (self.size - 2)))
        import networkx as nx

        return np.array(list(nx.betweenness_centrality(self.undirected).values()))

    @property
    def directed(self) -> nx.DiGraph[int]:
        """Build the graph for networkx, without weights; not kept, for it is large."""
        import networkx as nx  # half a second, and teams of two do without it

        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(self.size))
        graph.add_edges_from(self.edges)
        return graph

    @property
    def undirected(self) -> nx.Graph[int]:
        """Build the undirected projection for networkx, without weights; not kept either."""
        import networkx as nx

        graph: nx.Graph[int] = nx.Graph()
        graph.add_nodes_from(range(self.size))
        graph.add_edges_from(self.edges)
        return graph

    def _listed(self, pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
        lists: list[list[int]] = [[] for _ in range(self.size)]
        for one, other in pairs:
            lists[one].append(other)
        return lists


class GraphMetric(Metric):
    """A metric of the graph alone, whatever the order and the times of the calls."""

    least: ClassVar[int] = 2
    """Fewer members than these, those without calls included, leave it undefined."""

    def compute(self, team: Interactions) -> Computed:
        """Return the value; undefined without a call between two agents or enough members."""
        reason = team.too_few(self.least)
        return Undefined(reason) if reason is not None else self.measure(GraphView.of(team))

    @abstractmethod
    def measure(self, graph: GraphView) -> Computed:
        """Return the value on a graph with at least `least` agents and one edge."""


def settled(value: float) -> float:
    """Round `value` to 12 decimals.

    Sums in floating point differ in the last digits with their order; a threshold must not.
    """
    return round(float(value), 12) + 0.0  # + 0.0 makes a plain zero of -0.0


@memoize
def _view_of(team: Interactions) -> GraphView:
    taking_part = dict.fromkeys(chain.from_iterable(team.ends))
    names = list(dict.fromkeys([*taking_part, *team.members]))
    number = {name: at for at, name in enumerate(names)}
    weights = {(number[a], number[b]): count for (a, b), count in team.weights.items()}
    return GraphView(names, dict(sorted(weights.items())))


def _reached(start: int, neighbours: Sequence[Sequence[int]], seen: list[bool]) -> list[int]:
    """Return all agents connected to `start`, in order, and mark them in `seen`."""
    seen[start] = True
    found = [start]
    for agent in found:  # grows while it is walked through
        for other in neighbours[agent]:
            if not seen[other]:
                seen[other] = True
                found.append(other)
    return sorted(found)
