"""What each team's calls really look like, and that the labels of `data/teams.json` follow.

The labels are derived here from the steps that the running teams report, with networkx and apart
from `evals`, by the conventions of the graph tier.
"""

from collections import Counter
from itertools import pairwise

import networkx as nx
import pytest

from purple_agent.teams.rosters import TEAMS

# By hand: calls, density, highest undirected betweenness (None: undefined).
SHAPES = {
    "star5": (4, 4 / 20, 1),
    "chain4": (3, 3 / 12, 2 / 3),
    "mesh4": (12, 1, 0),
    "tree7": (6, 6 / 42, 9 / 15),
    "pingpong2": (8, 1, None),
    "degraded4": (2, 2 / 12, 1 / 3),
    "bridge6": (5, 5 / 30, 7 / 10),
    "chatty6": (90, 1, 0),
    "hierarchy15": (14, 14 / 210, 57 / 91),
    "relay4": (3, 3 / 12, 2 / 3),
    "duplicate4": (5, 5 / 12, 1 / 6),
    "slow4": (3, 3 / 12, 1),
}


@pytest.fixture(scope="module")
def known_steps():
    """The steps of teams that were asked already."""
    return {}


@pytest.fixture(params=sorted(TEAMS))
async def team_calls(request, served, exercise_list, known_steps):
    """A team, and its calls for one exercise."""
    team = TEAMS[request.param]
    if team.name not in known_steps:
        _, steps = await served.answer(f"team:{team.name}", exercise_list[0].prompt)
        known_steps[team.name] = steps
    return team, agent_calls(known_steps[team.name])


async def test_a_teams_graph_has_the_figures_of_its_shape(team_calls):
    team, calls = team_calls
    graph = directed(calls, team.roster)
    count, density, betweenness = SHAPES[team.name]
    assert len(calls) == count
    assert nx.density(graph) == pytest.approx(density)
    assert set(graph) == set(team.roster)
    if betweenness is not None:
        highest = max(nx.betweenness_centrality(graph.to_undirected()).values())
        assert highest == pytest.approx(betweenness)


async def test_a_teams_labels_follow_from_its_calls(team_calls):
    team, calls = team_calls
    assert labels(calls, team.roster) == list(team.labels)


async def test_members_ask_the_same_twice_only_where_that_is_the_point(team_calls):
    team, calls = team_calls
    asked = Counter((call["callee"], call["text"]) for call in calls)
    assert (max(asked.values()) > 1) == (team.name in {"pingpong2", "duplicate4"})


async def test_the_meshes_ask_everybody_equally_often(team_calls):
    team, calls = team_calls
    if team.name in {"mesh4", "chatty6"}:
        edges = Counter((call["caller"], call["callee"]) for call in calls)
        assert len(edges) == len(team.roster) * (len(team.roster) - 1)
        assert len(set(edges.values())) == 1


def test_a_finding_goes_with_each_label_that_has_one():
    findings = {"isolated_member": "isolated_agent"}
    same = {
        *("bottleneck", "over_centralized", "loop", "ping_pong", "duplicate_work"),
        *("silent_failure", "failed_member"),
    }
    for team in TEAMS.values():
        expected = {
            findings.get(label, label) for label in team.labels if label in same | findings.keys()
        }
        assert set(team.findings) == expected | {"distribution"}


def agent_calls(steps):
    """(caller, callee, text, failed, parent, id) of each call between members, by start."""
    calls = [
        {
            "caller": step["additional_attributes"]["caller"],
            "callee": step["step_action"]["agent_invocation"]["agent_name"],
            "text": step["step_action"]["agent_invocation"]["requests"],
            "failed": "error" in step["additional_attributes"],
            "parent": step.get("parent_step_id"),
            "id": step["step_id"],
            "start": step["start_time"],
        }
        for step in steps
        if step["call_type"] == "AGENT"
    ]
    return sorted(calls, key=lambda call: call["start"])


def directed(calls, roster):
    graph = nx.DiGraph()
    graph.add_nodes_from(roster)
    graph.add_edges_from((call["caller"], call["callee"]) for call in calls)
    return graph


def labels(calls, roster):
    graph = directed(calls, roster)
    plain = graph.to_undirected()
    checks = {**_shape(graph, plain, calls), **_flow(calls), **_faults(graph, calls)}
    return sorted(name for name, holds in checks.items() if holds)


def _shape(graph, plain, calls):
    n = len(graph)
    degrees = sorted((degree for _, degree in plain.degree()), reverse=True)
    betweenness = max(nx.betweenness_centrality(plain).values()) if n >= 3 else 0
    spread = (
        sum(degrees[0] - degree for degree in degrees) / ((n - 1) * (n - 2)) if n >= 3 else None
    )
    touched = Counter(end for call in calls for end in {call["caller"], call["callee"]})
    busy = graph.subgraph(node for node in graph if graph.degree(node))
    is_tree = len(busy) >= 2 and nx.is_arborescence(busy)
    depth = nx.dag_longest_path_length(busy) if is_tree else 0
    branches = any(degree > 1 for _, degree in busy.out_degree())
    bottleneck = betweenness > 0.5
    return {
        "dyad": n == 2 and bool(calls),
        "empty": not calls,
        "bottleneck": bottleneck,
        "hub": n >= 4 and spread > 0.7 and degrees[0] > degrees[1],
        "over_centralized": n >= 3 and max(touched.values()) / len(calls) > 0.7,
        "pipeline": is_tree and depth >= 2 and not branches,
        "hierarchy": is_tree and depth >= 2 and branches,
        "bridge": len(_bridges(plain)) == 1,
        "balanced": spread is not None
        and nx.number_weakly_connected_components(graph) == 1
        and spread <= 0.2
        and _gini([sum(call["callee"] == node for call in calls) for node in graph]) <= 0.2
        and not bottleneck
        and not _loops(calls),
    }


def _bridges(plain):
    found = []
    for a, b in nx.bridges(plain):
        rest = plain.copy()
        rest.remove_edge(a, b)
        sides = [len(nx.node_connected_component(rest, end)) for end in (a, b)]
        if min(sides) >= 3 and min(rest.degree(a), rest.degree(b)) >= 2:
            found.append((a, b))
    return found


def _gini(loads):
    n = len(loads)
    differences = sum(abs(a - b) for a in loads for b in loads)
    return differences / (2 * n * sum(loads)) * n / (n - 1)


def _flow(calls):
    reversals = sum(
        (b["caller"], b["callee"]) == (a["callee"], a["caller"]) for a, b in pairwise(calls)
    )
    ping_pong = len(calls) >= 4 and reversals / (len(calls) - 1) >= 0.5
    seen, failed, repeats, duplicates = set(), set(), 0, 0
    for call in calls:
        key = call["callee"], call["text"]
        repeats += key in seen
        duplicates += key in seen and key not in failed
        seen.add(key)
        (failed.add if call["failed"] else failed.discard)(key)
    loop = _loops(calls)
    return {
        "loop": loop,
        "ping_pong": ping_pong,
        "duplicate_work": duplicates / len(calls) >= 0.1,
        "no_progress": (loop or ping_pong) and repeats >= len(calls) / 2,
    }


def _loops(calls):
    by_id = {call["id"]: call for call in calls}
    for call in calls:
        above = by_id.get(call["parent"])
        while above is not None:
            if (above["callee"], above["text"]) == (call["callee"], call["text"]):
                return True
            above = by_id.get(above["parent"])
    return False


def _faults(graph, calls):
    failed = {call["id"] for call in calls if call["failed"]}
    received = {call["callee"] for call in calls}
    helped = {call["callee"] for call in calls if not call["failed"]}
    return {
        "isolated_member": any(graph.degree(node) == 0 for node in graph),
        "failed_member": bool(received - helped),
        # A call without a parent was made while the entry was at work on the exercise, which it
        # answered.
        "silent_failure": any(
            call["failed"]
            and call["parent"] not in failed
            and not any(
                later["start"] > call["start"]
                and not later["failed"]
                and (later["callee"], later["text"]) == (call["callee"], call["text"])
                for later in calls
            )
            for call in calls
        ),
    }
