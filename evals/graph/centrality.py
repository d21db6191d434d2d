"""Centrality: how much of the team's work hangs on each agent.

Each metric has a value for every member, and the highest stands for the team. They are defined
from two members on, except betweenness and the share of interactions: with two, nobody can stand
between others, and every call touches both.
"""

from __future__ import annotations

import numpy as np

from evals.graph.matrices import Floats, Ints
from evals.graph.metric import Computed, PerAgent, Undefined
from evals.graph.view import GraphMetric, GraphView

_DAMPING = 0.85
_TOLERANCE = 1e-12
_MAX_ROUNDS = 300
_MAX_EDGE_VISITS = 20_000_000
_CONVERGED = 1e-14
_MAX_DENSE = 500
"""Up to this many agents all eigenvectors are computed, which always succeeds."""


class Degree(GraphMetric):
    """Share of the possible connections that an agent has."""

    name = "degree"
    formula = "(agents it calls + agents that call it) / (2 (n - 1))"
    source = "Freeman 1978, Centrality in social networks: conceptual clarification"
    range = "0 (isolated) to 1 (calls all others and is called by all)"
    needs = "a call between two agents"

    def measure(self, graph: GraphView) -> Computed:
        """Return the degree of each agent; the highest for the team."""
        ends = np.concatenate([graph.callers, graph.callees])
        return _highest(graph, np.bincount(ends, minlength=graph.size) / (2 * (graph.size - 1)))


class Betweenness(GraphMetric):
    """Share of the shortest paths between other agents that lead through an agent."""

    name = "betweenness"
    formula = (
        "sum over pairs of others of (shortest paths through it / shortest paths), divided by"
        " (n - 1)(n - 2) / 2; on the undirected projection, unweighted"
    )
    source = (
        "Freeman 1977, A set of measures of centrality based on betweenness; computed after "
        "Brandes 2001, A faster algorithm for betweenness centrality"
    )
    range = "0 (on no path) to 1 (on every path, as the centre of a star)"
    needs = "at least 3 members and a call between two agents"
    least = 3

    def measure(self, graph: GraphView) -> Computed:
        """Return the betweenness of each agent; the highest for the team."""
        found = graph.betweenness
        return found if isinstance(found, Undefined) else _highest(graph, found)


class Closeness(GraphMetric):
    """Nearness of an agent to those whose work can reach it along calls."""

    name = "closeness"
    formula = (
        "r / (sum of distances to it) * r / (n - 1), where r agents reach it along calls; 0 if"
        " none does"
    )
    source = "Wasserman and Faust 1994, Social Network Analysis, chapter 5 (proximity prestige)"
    range = "0 (nobody reaches it) to 1 (all others call it)"
    needs = "a call between two agents"

    def measure(self, graph: GraphView) -> Computed:
        """Return the closeness of each agent; the highest for the team."""
        if graph.too_large is not None:
            return graph.too_large
        reach = (graph.distances > 0).sum(axis=0)
        sums = np.where(graph.distances > 0, graph.distances, 0).sum(axis=0, dtype=np.int64)
        return _highest(graph, reach**2 / (np.maximum(sums, 1) * (graph.size - 1)))


class Eigenvector(GraphMetric):
    """Work with agents who themselves work with many."""

    name = "eigenvector"
    formula = (
        "entry of the eigenvector to the largest eigenvalue of the adjacency matrix, of length 1;"
        " on the largest weak component (of equal ones that which calls first), undirected,"
        " unweighted"
    )
    source = (
        "Bonacich 1972, Factoring and weighting approaches to status scores and clique "
        "identification"
    )
    range = "above 0 to 0.71 (the centre of a star)"
    needs = "a call between two agents; above 500 agents, that the iteration converges"

    def measure(self, graph: GraphView) -> Computed:
        """Return the entry of each agent of the largest component; the highest for the team."""
        members = graph.components[0]
        vector = _leading_vector(graph, members)
        if vector is None:
            found = f"{len(members)} agents with {len(graph.edges)} connections"
            return Undefined(f"no convergence: the largest component is too long and thin, {found}")
        # Ten decimals: the decomposition promises no more where two eigenvalues lie close.
        values = {
            graph.names[at]: round(float(x), 10) for at, x in zip(members, vector, strict=True)
        }
        skipped = {
            name: "not in the largest weak component" for name in graph.names if name not in values
        }
        return PerAgent(values=values, value=max(values.values()), skipped=skipped)


class PageRank(GraphMetric):
    """Share of the work that reaches an agent when it is handed on at random."""

    name = "pagerank"
    formula = (
        "0.15 / n + 0.85 * (sum over its callers of rank * calls to it / calls of the caller +"
        " 1 / n of the rank of agents that call nobody); iterated to 1e-12 per agent"
    )
    source = (
        "Page, Brin, Motwani and Winograd 1999, The PageRank citation ranking: bringing order to "
        "the web"
    )
    range = "above 0 to 1; the values of all members add up to 1"
    needs = "a call between two agents"

    def measure(self, graph: GraphView) -> Computed:
        """Return the rank of each agent; the highest for the team."""
        size = graph.size
        calls = np.bincount(graph.callers, weights=graph.calls, minlength=size)
        share = graph.calls / calls[graph.callers]
        rank = np.full(size, 1 / size)
        for _ in range(_MAX_ROUNDS):
            before = rank
            passed = np.bincount(graph.callees, before[graph.callers] * share, minlength=size)
            passed += before[calls == 0].sum() / size
            rank = _DAMPING * passed + (1 - _DAMPING) / size
            if np.abs(rank - before).sum() < size * _TOLERANCE:
                break
        return _highest(graph, rank)


class InteractionShare(GraphMetric):
    """Share of all calls in which an agent takes part."""

    name = "interaction_share"
    formula = "calls with the agent as caller or callee / all calls, each call counted"
    source = "this project; Freeman's degree with multiplicity"
    range = "0 (no part in any call) to 1 (part in every call)"
    needs = "at least 3 members and a call between two agents; with 2 it is always 1"
    least = 3

    def measure(self, graph: GraphView) -> Computed:
        """Return the share of each agent; the highest for the team."""
        ends = np.concatenate([graph.callers, graph.callees])
        both = np.concatenate([graph.calls, graph.calls])
        touched = np.bincount(ends, weights=both, minlength=graph.size)
        return _highest(graph, touched / graph.calls.sum())


def _highest(graph: GraphView, values: Floats) -> PerAgent:
    by_name = graph.by_name(values)
    return PerAgent(values=by_name, value=max(by_name.values()))


def _leading_vector(graph: GraphView, members: list[int]) -> Floats | None:
    """Return the positive eigenvector of the component's projection; None: no convergence."""
    place = {agent: at for at, agent in enumerate(members)}
    pairs = [(place[a], place[b]) for a in members for b in graph.neighbours[a]]
    rows, columns = np.array(pairs, dtype=np.int64).T
    if len(members) > _MAX_DENSE:
        return _power_iteration(rows, columns, len(members))
    matrix = np.zeros((len(members), len(members)))
    matrix[rows, columns] = 1
    # eigh sorts by eigenvalue; the last vector is that of Perron, up to its sign.
    return np.asarray(np.abs(np.linalg.eigh(matrix).eigenvectors[:, -1]))


def _power_iteration(rows: Ints, columns: Ints, size: int) -> Floats | None:
    """Iterate A + half its norm; A alone would swing between two vectors for ever on a tree."""
    vector: Floats = np.full(size, size**-0.5)
    rounds = min(_MAX_ROUNDS, _MAX_EDGE_VISITS // len(rows))
    changes: list[float] = []
    for left in reversed(range(rounds)):
        before = vector
        after = np.bincount(rows, before[columns], minlength=size)
        vector = after + before * float(np.linalg.norm(after)) / 2
        vector /= float(np.linalg.norm(vector))
        changes.append(float(np.abs(vector - before).max()))
        if changes[-1] < _CONVERGED:
            return vector
        # Changes shrink ever more slowly, so what the latest ones do not promise never comes.
        if len(changes) > 20 and changes[-1] * (changes[-1] / changes[-11]) ** (left / 10) > 1e-10:
            return None
    return None


METRICS: tuple[type[GraphMetric], ...] = (
    Degree,
    Betweenness,
    Closeness,
    Eigenvector,
    PageRank,
    InteractionShare,
)
