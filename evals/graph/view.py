"""GraphView: a team's graph in numbers, with everything that several metrics share computed once.

Agents are numbered in the order in which they first take part in a call; members without calls
come last. So a metric sees the same graph, in the same order, whatever the agents are called.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import ClassVar

import numpy as np

from evals.graph import sweep
from evals.graph.interactions import Interactions
from evals.graph.metric import Computed, Metric, Undefined
from evals.graph.sweep import Arcs, Distances, Floats, Ints

MAX_WORK = 15_000_000
"""Up to which product of agents and (agents + connections) shortest paths are computed.

A chain of this size takes two seconds. No graph of this size has more than 1e261 shortest paths
between two agents (866 layers of two), so that counting them in floats is safe.
"""

_KEPT = "_graph_view"


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
        """Of each edge, the number of the caller."""
        self.callees: Ints = pairs[:, 1]
        self.calls: Floats = np.array(list(weights.values()), dtype=np.float64)
        """Of each edge, how many calls it stands for."""

    @classmethod
    def of(cls, team: Interactions) -> GraphView:
        """The view of `team`; made once and kept with it, as cached_property keeps its values."""
        kept = vars(team)
        view = kept.get(_KEPT)
        if not isinstance(view, cls):
            view = kept[_KEPT] = _view(cls, team)
        return view

    def by_name(self, values: Sequence[float] | Floats) -> dict[str, float]:
        """Values by number as values by name."""
        return dict(zip(self.names, map(settled, values), strict=True))

    @cached_property
    def callees_of(self) -> list[list[int]]:
        """For each agent, whom it calls."""
        return self._listed(self.edges)

    @cached_property
    def neighbours(self) -> list[list[int]]:
        """For each agent, whom it calls or is called by, each once: the undirected projection."""
        both = {pair for caller, callee in self.edges for pair in _both_ways(caller, callee)}
        return self._listed(sorted(both))

    @cached_property
    def degrees(self) -> Ints:
        """Neighbours of each agent in the undirected projection."""
        return np.array([len(others) for others in self.neighbours], dtype=np.int64)

    @cached_property
    def components(self) -> list[list[int]]:
        """The weakly connected components, the largest first, then by their first agent."""
        seen = [False] * self.size
        found = [
            _reached(start, self.neighbours, seen) for start in range(self.size) if not seen[start]
        ]
        return sorted(found, key=len, reverse=True)

    @property
    def too_large(self) -> Undefined | None:
        """Why shortest paths are not computed here; None where they are."""
        work = max(self._directed.work, self._projection.work)
        if work <= MAX_WORK:
            return None
        return Undefined(
            f"too large: {self.size} agents with {len(self.edges)} connections; shortest paths are"
            f" computed where agents x (agents + connections both ways) is at most {MAX_WORK}"
        )

    @cached_property
    def distances(self) -> Distances:
        """Lengths of the shortest directed paths, [from, to]; -1 where there is none.

        Only where the graph is not `too_large`.
        """
        return sweep.distances(self._directed)

    @cached_property
    def path_lengths(self) -> Ints:
        """How many ordered pairs have a shortest directed path of length 0, 1, 2 ...

        The pairs of an agent with itself are among those of length 0. Only where the graph is not
        `too_large`.
        """
        return np.bincount(self.distances.ravel() + 1)[1:]

    @cached_property
    def betweenness(self) -> Floats | Undefined:
        """Of each agent on the undirected projection, divided by (n - 1)(n - 2) / 2: 0 to 1."""
        if self.too_large is not None:
            return self.too_large
        return sweep.betweenness(self._projection) / ((self.size - 1) * (self.size - 2))

    @cached_property
    def _directed(self) -> Arcs:
        return Arcs.of(self.size, self.callers, self.callees)

    @cached_property
    def _projection(self) -> Arcs:
        targets = np.array([v for others in self.neighbours for v in others], dtype=np.int64)
        return Arcs.of(self.size, np.repeat(np.arange(self.size), self.degrees), targets)

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
        """The value, or why there is none: no call between two agents, or too few members."""
        reason = team.too_few(self.least)
        return Undefined(reason) if reason is not None else self.measure(GraphView.of(team))

    @abstractmethod
    def measure(self, graph: GraphView) -> Computed:
        """The value on a graph with at least `least` agents and one edge."""


def settled(value: float) -> float:
    """`value` to 12 decimals.

    Sums in floating point differ in the last digits with their order; a threshold must not.
    """
    return round(float(value), 12) + 0.0  # + 0.0 makes of -0.0 a plain zero


def _view(cls: type[GraphView], team: Interactions) -> GraphView:
    taking_part = dict.fromkeys(chain.from_iterable(team.ends))
    names = list(dict.fromkeys([*taking_part, *team.members]))
    number = {name: at for at, name in enumerate(names)}
    weights = {(number[a], number[b]): count for (a, b), count in team.weights.items()}
    return cls(names, dict(sorted(weights.items())))


def _both_ways(one: int, other: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (one, other), (other, one)


def _reached(start: int, neighbours: Sequence[Sequence[int]], seen: list[bool]) -> list[int]:
    """All agents connected to `start`, in order; marks them in `seen`."""
    seen[start] = True
    found = [start]
    for agent in found:  # grows while it is walked through
        for other in neighbours[agent]:
            if not seen[other]:
                seen[other] = True
                found.append(other)
    return sorted(found)
