"""digraph_of: a team as a networkx graph, for metrics that networkx already has.

The metrics of the product that every evaluation needs read `evals.graph.view` instead, which is
some times faster (docs/decisions/0008-own-sweeps-beside-networkx.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evals.graph.interactions import Interactions
from evals.graph.once import once
from evals.graph.view import GraphView

if TYPE_CHECKING:
    import networkx as nx


@once
def digraph_of(team: Interactions) -> nx.DiGraph[str]:
    """The team's graph: a node for each member, an edge for each pair with calls.

    Edges have the number of their calls as `calls`. Nodes and edges come in the order of the first
    calls, idle members last. Made once for all metrics; a metric that changes it takes a copy.
    """
    import networkx as nx  # half a second, and teams alone need it

    view = GraphView.of(team)
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(view.names)
    names = view.names
    graph.add_edges_from(
        (names[caller], names[callee], {"calls": int(calls)})
        for (caller, callee), calls in zip(view.edges, view.calls, strict=True)
    )
    return graph
