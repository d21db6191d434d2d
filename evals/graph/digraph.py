"""digraph_of: a team as a networkx graph, for metrics that networkx already has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evals.graph.interactions import Interactions
from evals.graph.memoize import memoize
from evals.graph.view import GraphView

if TYPE_CHECKING:
    import networkx as nx


@memoize
def digraph_of(team: Interactions) -> nx.DiGraph[str]:
    """Return the team's graph: a node for each member, an edge for each pair with calls.

    Edges have the number of their calls as `calls`. Nodes and edges come in the order of the first
    calls, idle members last. It is built once for all metrics; a metric that changes it takes a
    copy.
    """
    import networkx as nx  # half a second, and only few metrics need it

    view = GraphView.of(team)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(view.names)
    for (caller, callee), calls in zip(view.edges, view.calls.tolist(), strict=True):
        graph.add_edge(view.names[caller], view.names[callee], calls=int(calls))
    return graph
