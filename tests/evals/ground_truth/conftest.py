"""Labels and classes derived straight from the edges of the file, apart from the product's code.

Nothing of `evals` is used here, so that the two can disagree: graphs are networkx's, shares are
fractions, and the definitions are those of the conventions written out once more.
"""

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

import networkx as nx
import pytest

DATA = Path(__file__).resolve().parents[3] / "data"


@pytest.fixture(scope="session")
def raw():
    """The file as plain JSON."""
    return json.loads((DATA / "ground_truth.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def teams():
    """The manifest of the bundled teams, by name."""
    manifest = json.loads((DATA / "teams.json").read_text(encoding="utf-8"))
    return {team["name"]: team for team in manifest["teams"]}


class Edges:
    """A scenario's list of edges, and the graphs that it makes."""

    def __init__(self, source):
        rows = []
        for position, (caller, callee, arguments, *rest) in enumerate(source["edges"]):
            options = rest[0] if rest else {}
            row = {"caller": caller, "callee": callee, "arguments": arguments, "at": position}
            rows.append({"start_ms": 100 * position, **options, **row})
        self.rows = rows
        in_order = sorted(rows, key=lambda row: (row["start_ms"], row["at"]))
        self.inner = [row for row in in_order if row.get("caller_kind") != "user"]
        self.agents = [row for row in self.inner if not is_tool(row)]
        self.calls = [row for row in self.agents if row["caller"] != row["callee"]]
        self.directed = nx.DiGraph((row["caller"], row["callee"]) for row in self.calls)
        self.directed.add_nodes_from(source.get("roster") or ())
        self.directed.add_nodes_from(row["caller"] for row in self.agents)
        self.graph = nx.Graph(self.directed)
        self.size = len(self.directed)

    def parent(self, row):
        return None if row.get("parent") is None else self.rows[row["parent"]]

    def ancestors(self, row):
        while (row := self.parent(row)) is not None:
            yield row


def is_tool(row):
    return row.get("call_type") == "TOOL"


def key(row):
    """What was asked of whom; None where it is unknown, which equals nothing."""
    return None if row["arguments"] is None else (is_tool(row), row["callee"], row["arguments"])


def density(edges):
    pairs = edges.size * (edges.size - 1)
    return Fraction(edges.directed.number_of_edges(), pairs) if pairs else None


def degree_centralization(edges):
    degrees = [degree for _, degree in edges.graph.degree]
    distance = sum(max(degrees) - degree for degree in degrees)
    return Fraction(distance, (edges.size - 1) * (edges.size - 2))


def highest_betweenness(edges):
    """Exact: counts of shortest paths, pair by pair."""
    through = dict.fromkeys(edges.graph, Fraction(0))
    for one, other in combinations(edges.graph, 2):
        if nx.has_path(edges.graph, one, other):
            paths = list(nx.all_shortest_paths(edges.graph, one, other))
            for path in paths:
                for node in path[1:-1]:
                    through[node] += Fraction(1, len(paths))
    pairs = Fraction((edges.size - 1) * (edges.size - 2), 2)
    return max(through.values()) / pairs


def gini(edges):
    loads = Counter(row["callee"] for row in edges.agents)
    received = [loads[node] for node in edges.graph]
    differences = sum(abs(one - other) for one, other in combinations(received, 2))
    return Fraction(differences, (edges.size - 1) * sum(received))


def interaction_share(edges):
    touched = Counter(end for row in edges.calls for end in (row["caller"], row["callee"]))
    return Fraction(max(touched.values()), len(edges.calls))


def has_cycle(edges):
    return any(
        key(row) is not None and key(row) == key(above)
        for row in edges.agents
        for above in edges.ancestors(row)
        if above in edges.agents
    )


def ping_pong_share(edges):
    there_and_back = [
        (before["caller"], before["callee"]) == (row["callee"], row["caller"])
        for before, row in pairwise(edges.calls)
    ]
    return Fraction(sum(there_and_back), len(there_and_back))


def duplicates(edges):
    """Calls that ask again what an earlier call, the latest that asked it, did not fail at."""
    found, latest = [], {}
    for row in edges.inner:
        if key(row) is not None:
            if key(row) in latest and latest[key(row)].get("error") is None:
                found.append(row)
            latest[key(row)] = row
    return found


def duplicate_share(edges):
    known = [row for row in edges.inner if key(row) is not None]
    return Fraction(len(duplicates(edges)), len(known)) if known else Fraction(0)


def repeats(edges):
    keys = [key(row) for row in edges.agents if key(row) is not None]
    return len(keys) - len(set(keys))


def span(edges, row):
    """Start and end in ms: the default is 50 ms, or what encloses the calls below."""
    begin = row["start_ms"]
    if row.get("duration_ms") is not None:
        return begin, begin + row["duration_ms"]
    below = [span(edges, other)[1] for other in edges.rows if edges.parent(other) is row]
    return begin, max([begin + 50, *below])


def is_recovered(edges, row):
    """Whether a call that is not below this one began when it had ended, and succeeded."""
    return key(row) is not None and any(
        key(other) == key(row)
        and other.get("error") is None
        and other["start_ms"] >= span(edges, row)[1]
        and not any(above is row for above in edges.ancestors(other))
        for other in edges.inner
    )


def callers_step(edges, row):
    """The step in which the caller made this call, past steps that the caller made as well."""
    called = {call["callee"] for call in edges.calls}
    for above in edges.ancestors(row):
        if above["callee"] == row["caller"]:
            return above
        alias = above.get("caller_kind") == "user" and above["callee"] not in edges.directed
        if alias and row["caller"] not in called:
            return above
        if above["caller"] != row["caller"]:
            return None
    return None


def fails_silently(edges):
    for row in edges.inner:
        if row.get("error") is None or is_recovered(edges, row):
            continue
        parent, own = edges.parent(row), callers_step(edges, row)
        steps = [step for step in (parent, own) if step is not None]
        if own is not None and all(step.get("error") is None for step in steps):
            return True
    return False


def has_failed_member(edges):
    received = Counter(row["callee"] for row in edges.agents)
    failed = Counter(row["callee"] for row in edges.agents if row.get("error") is not None)
    return any(failed[callee] == calls for callee, calls in received.items())


def out_tree(edges):
    """The members with calls as an out-tree; None if they are none."""
    tree = edges.directed.subgraph(n for n, degree in edges.directed.degree if degree)
    return tree if len(tree) and nx.is_arborescence(tree) else None


def has_bridge(edges):
    found = 0
    for one, other in nx.bridges(edges.graph):
        cut = edges.graph.copy()
        cut.remove_edge(one, other)
        groups = [nx.node_connected_component(cut, end) for end in (one, other)]
        found += all(len(group) >= 3 for group in groups) and all(
            cut.degree(end) >= 2 for end in (one, other)
        )
    return found == 1


def labels_of(edges):
    """All labels that hold, sorted."""
    labels = set()
    if edges.size >= 2 and nx.number_of_isolates(edges.graph):
        labels.add("isolated_member")
    parts = [part for part in nx.connected_components(edges.graph) if len(part) > 1]
    if len(parts) > 1:
        labels.add("disconnected")
    if fails_silently(edges):
        labels.add("silent_failure")
    if has_failed_member(edges):
        labels.add("failed_member")
    if duplicate_share(edges) >= Fraction(1, 10):
        labels.add("duplicate_work")
    if not edges.calls:
        return sorted(labels | {"empty"})
    if edges.size == 2:
        labels.add("dyad")
    loop = has_cycle(edges)
    ping_pong = len(edges.calls) >= 4 and ping_pong_share(edges) >= Fraction(1, 2)
    labels |= {"loop"} if loop else set()
    labels |= {"ping_pong"} if ping_pong else set()
    if (loop or ping_pong) and 2 * repeats(edges) >= len(edges.agents):
        labels.add("no_progress")
    tree = out_tree(edges)
    if tree is not None and nx.dag_longest_path_length(tree) >= 2:
        branches = max(degree for _, degree in tree.out_degree) > 1
        labels.add("hierarchy" if branches else "pipeline")
    return sorted(labels | (shape_of(edges, loop) if edges.size >= 3 else set()))


def shape_of(edges, loop):
    """The labels that take three members."""
    labels = set()
    centralization = degree_centralization(edges)
    degrees = sorted((degree for _, degree in edges.graph.degree), reverse=True)
    if edges.size >= 4 and centralization > Fraction(7, 10) and degrees[0] > degrees[1]:
        labels.add("hub")
    if highest_betweenness(edges) > Fraction(1, 2):
        labels.add("bottleneck")
    if interaction_share(edges) > Fraction(7, 10):
        labels.add("over_centralized")
    if has_bridge(edges):
        labels.add("bridge")
    if (
        nx.is_connected(edges.graph)
        and not loop
        and gini(edges) <= Fraction(1, 5)
        and centralization <= Fraction(1, 5)
        and "bottleneck" not in labels
    ):
        labels.add("balanced")
    return labels


def class_of(labels):
    """The class by the definitions in the file's head, the first that holds."""
    labels = set(labels)
    if labels & {"isolated_member", "failed_member", "silent_failure"}:
        return "degraded"
    if labels & {"loop", "ping_pong", "no_progress"}:
        return "loop"
    if labels & {"bottleneck", "hub", "over_centralized"}:
        return "bottleneck"
    if labels & {"empty", "dyad", "disconnected", "duplicate_work"}:
        return "low"
    return "high" if "balanced" in labels else "medium"


FIGURES = {
    "degree_centralization": degree_centralization,
    "density": density,
    "duplicate_share": duplicate_share,
    "gini": gini,
    "highest_betweenness": highest_betweenness,
    "interaction_share": interaction_share,
    "ping_pong_share": ping_pong_share,
}


class Derivation:
    """What tests get of all this."""

    @staticmethod
    def labels_and_class(source):
        edges = Edges(source)
        labels = labels_of(edges)
        return labels, class_of(labels)

    @staticmethod
    def class_of(labels):
        return class_of(labels)

    @staticmethod
    def figure(name, source):
        return FIGURES[name](Edges(source))


@pytest.fixture(scope="session")
def derivation():
    return Derivation
