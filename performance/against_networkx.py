"""Graph algorithms of our own beside those of networkx: python performance/against_networkx.py

Milliseconds of CPU, medians in one process, on graphs of 3 to 50 agents, and how many times faster
ours is. Whatever is not faster at these sizes should be left to networkx.
"""

import statistics
import time

import networkx as nx
import numpy as np
from graph import at_random, chain

from evals.graph import matrices
from evals.graph.centrality import Eigenvector, PageRank
from evals.graph.communities import communities
from evals.graph.interactions import Interactions
from evals.graph.structure import ClusteringCoefficient
from evals.graph.view import GraphView

TEAMS = {
    "3 agents, 4 calls": at_random(4, 3),
    "10 agents, 30 calls": at_random(30, 10),
    "20 agents, 1,000 calls": at_random(1_000, 20),
    "50 agents, 3,000 calls": at_random(3_000, 50),
    "chain of 20 agents": chain(20),
    "chain of 50 agents": chain(50),
}
ROUNDS = 9


def median_ms(work):
    work()
    taken = []
    for _ in range(ROUNDS):
        before = time.process_time()
        work()
        taken.append(time.process_time() - before)
    return statistics.median(taken) * 1000


def pairs_of(graph):
    """Name, ours, and that of networkx; GraphView keeps nothing of what is measured here."""
    directed, both = graph.directed, graph.undirected
    weights = dict(zip(graph.edges, map(int, graph.calls), strict=True))
    weighted = nx.DiGraph()
    weighted.add_weighted_edges_from((a, b, calls) for (a, b), calls in weights.items())
    present, projected = graph.present, graph.present | graph.present.T
    yield (
        "distances",
        lambda: matrices.distances(present[None]),
        lambda: dict(nx.all_pairs_shortest_path_length(directed)),
    )
    yield (
        "betweenness",
        lambda: matrices.betweenness(projected[None]),
        lambda: nx.betweenness_centrality(both),
    )
    yield (
        "clustering",
        lambda: ClusteringCoefficient().measure(graph),
        lambda: nx.average_clustering(both),
    )
    yield (
        "eigenvector",
        lambda: Eigenvector().measure(graph),
        lambda: nx.eigenvector_centrality(both, max_iter=20_000, tol=1e-10),
    )
    yield (
        "pagerank",
        lambda: PageRank().measure(graph),
        lambda: nx.pagerank(weighted, tol=1e-12, max_iter=1_000),
    )
    yield (
        "communities",
        lambda: communities(graph.size, weights),
        lambda: nx.community.louvain_communities(weighted, seed=1),
    )
    stack = np.repeat(projected[None], 100, axis=0)
    yield (
        "betweenness of 100 graphs",
        lambda: matrices.betweenness(stack),
        lambda: [nx.betweenness_centrality(both) for _ in range(100)],
    )


def main():
    print(f"{'CPU ms':24}{'':28}{'ours':>10}{'networkx':>10}{'times':>8}")
    for label, trace in TEAMS.items():
        for name, ours, theirs in pairs_of(GraphView.of(Interactions.of(trace))):
            one, other = median_ms(ours), median_ms(theirs)
            print(f"{label:24}{name:28}{one:10.3f}{other:10.3f}{other / one:8.1f}", flush=True)


if __name__ == "__main__":
    main()
