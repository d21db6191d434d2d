"""Structure: the shape of the team's graph, as one number each."""

from __future__ import annotations

from collections import Counter, defaultdict

from pydantic import JsonValue

from evals.graph.communities import communities, modularity
from evals.graph.metric import Computed, Detailed, Metric, Undefined
from evals.graph.view import GraphMetric, GraphView, settled

_CALL = "a call between two agents"
_THREE = f"at least 3 members and {_CALL}"


class Density(GraphMetric):
    """Share of the possible connections that are in use."""

    name = "density"
    formula = "distinct caller-callee pairs / (n (n - 1))"
    source = "Wasserman and Faust 1994, Social Network Analysis, p. 129"
    range = "above 0 to 1 (everybody calls everybody); falls with size, so it stands beside it"
    needs = _CALL

    def measure(self, graph: GraphView) -> Computed:
        """Return the density, with members and connections."""
        value = len(graph.edges) / (graph.size * (graph.size - 1))
        details: dict[str, JsonValue] = {"agents": graph.size, "connections": len(graph.edges)}
        return Detailed(value=settled(value), details=details)


class ClusteringCoefficient(GraphMetric):
    """Share of the pairs of an agent's partners that are partners too."""

    name = "clustering_coefficient"
    formula = (
        "mean over members of connected pairs of neighbours / pairs of neighbours; undirected"
        " projection; 0 for members with fewer than 2 neighbours"
    )
    source = "Watts and Strogatz 1998, Collective dynamics of small-world networks"
    range = "0 (no triangle) to 1 (all neighbours know each other)"
    needs = _THREE
    least = 3

    def measure(self, graph: GraphView) -> Computed:
        """Return the coefficient."""
        near = [set(others) for others in graph.neighbours]
        closed = [0] * graph.size
        for one, others in enumerate(graph.neighbours):
            for other in others:
                if one < other:
                    shared = len(near[one] & near[other])
                    closed[one] += shared
                    closed[other] += shared
        degrees = map(len, near)
        shares = [c / (d * (d - 1)) for c, d in zip(closed, degrees, strict=True) if d > 1]
        return settled(sum(shares) / graph.size)


class ConnectedComponents(GraphMetric):
    """Groups of members without any call between them."""

    name = "connected_components"
    formula = "weakly connected components; a member without calls is one of its own"
    source = "Harary 1969, Graph Theory"
    range = "1 (all are connected) to n - 1"
    needs = _CALL

    def measure(self, graph: GraphView) -> Computed:
        """Return the number of groups, with their sizes, and how many members are alone."""
        sizes = [len(members) for members in graph.components]
        connected: list[JsonValue] = [size for size in sizes if size > 1]
        alone = len(sizes) - len(connected)
        return Detailed(
            value=float(len(sizes)), details={"sizes_above_1": connected, "alone": alone}
        )


class WeightedReciprocity(GraphMetric):
    """Share of the calls that are matched by calls the other way."""

    name = "weighted_reciprocity"
    formula = "sum over ordered pairs of min(w_uv, w_vu) / sum of w_uv"
    source = (
        "Squartini, Picciolo, Ruzzenenti and Garlaschelli 2013, Reciprocity of weighted networks"
    )
    range = "0 (nobody calls back) to 1 (every pair calls each other equally often)"
    needs = _CALL

    def measure(self, graph: GraphView) -> Computed:
        """Return the share."""
        calls = dict(zip(graph.edges, graph.calls.tolist(), strict=True))
        matched = sum(min(count, calls.get((b, a), 0.0)) for (a, b), count in calls.items())
        return settled(matched / sum(calls.values()))


class Hierarchy(GraphMetric):
    """Share of the connected pairs in which only one reaches the other."""

    name = "hierarchy"
    formula = "1 - pairs that reach each other / pairs of which one reaches the other; unordered"
    source = "Krackhardt 1994, Graph theoretical dimensions of informal organizations"
    range = (
        "0 (all connected pairs reach each other, as in a ring) to 1 (no way back, as in a tree)"
    )
    needs = _CALL

    def measure(self, graph: GraphView) -> Computed:
        """Return the share of one-way pairs."""
        if graph.too_large is not None:
            return graph.too_large
        reaches = graph.distances > 0
        mutual = int((reaches & reaches.T).sum()) // 2
        return settled(1 - mutual / (int(reaches.sum()) - mutual))


class Modularity(GraphMetric):
    """Strength of the division into groups that mostly call their own members."""

    name = "modularity"
    formula = (
        "sum over groups of (calls inside / m - calls made by the group * calls received by it /"
        " m^2); directed, weighted; groups by the Louvain method, agents visited by first call"
    )
    source = "Leicht and Newman 2008, Community structure in directed networks; Blondel et al. 2008"
    range = "about 0 (no groups) to below 1"
    needs = f"at least 6 members and {_CALL}"
    least = 6

    def measure(self, graph: GraphView) -> Computed:
        """Return the modularity, with the number of groups; members without calls are in none."""
        weights = dict(zip(graph.edges, map(int, graph.calls.tolist()), strict=True))
        group = communities(graph.size, weights)
        groups = len({group[at] for pair in graph.edges for at in pair})
        return Detailed(value=settled(modularity(group, weights)), details={"groups": groups})


class ArticulationAgents(GraphMetric):
    """Agents without whom the team falls apart."""

    name = "articulation_agents"
    formula = "agents whose removal leaves more components; undirected projection"
    source = "Hopcroft and Tarjan 1973, Algorithm 447: efficient algorithms for graph manipulation"
    range = "0 (anybody can be lost) to n - 2 (chain)"
    needs = _THREE
    least = 3

    def measure(self, graph: GraphView) -> Computed:
        """Return their number, with their names in the order of their first calls."""
        import networkx as nx

        cuts = sorted(set(nx.articulation_points(graph.undirected)))
        found: list[JsonValue] = [graph.names[agent] for agent in cuts]
        return Detailed(value=float(len(found)), details={"agents": found})


class Dominators(GraphMetric):
    """Agents that work from the root must pass to get to another agent."""

    name = "dominators"
    formula = (
        "agents other than the root that lie on every directed path from the root to some other"
        " agent; root: the only caller that nobody calls or, if all are called, the first caller"
    )
    source = "Lengauer and Tarjan 1979, A fast algorithm for finding dominators in a flowgraph"
    range = "0 (the root reaches everybody past any one agent) to n - 2 (chain)"
    needs = f"{_THREE}, and not two callers that nobody calls"
    least = 3

    def measure(self, graph: GraphView) -> Computed:
        """Return their number, with the root, and how many agents each of them dominates."""
        roots = sorted(set(graph.callers.tolist()) - set(graph.callees.tolist()))
        if len(roots) > 1:
            return Undefined(f"no root: {len(roots)} agents call and are called by nobody")
        root = roots[0] if roots else 0  # the first agent made the first call
        below = _dominated(graph, root)
        dominated: dict[str, JsonValue] = {graph.names[at]: below[at] for at in sorted(below)}
        details: dict[str, JsonValue] = {"root": graph.names[root], "dominated": dominated}
        return Detailed(value=float(len(below)), details=details)


def _dominated(graph: GraphView, root: int) -> Counter[int]:
    """Count the agents that each agent but the root dominates, directly or through others."""
    import networkx as nx

    above = nx.immediate_dominators(graph.directed, root)
    directly: dict[int, list[int]] = defaultdict(list)
    for agent, upper in above.items():
        if agent != root and upper is not None:
            directly[upper].append(agent)
    order = [root]
    for agent in order:  # grows while it is walked through
        order += directly.get(agent, ())
    below: Counter[int] = Counter()
    for upper in reversed(order[1:]):
        if upper in directly:
            below[upper] = sum(below[agent] + 1 for agent in directly[upper])
    return below


METRICS: tuple[type[Metric], ...] = (
    Density,
    ClusteringCoefficient,
    ConnectedComponents,
    WeightedReciprocity,
    Hierarchy,
    Modularity,
    ArticulationAgents,
    Dominators,
)
