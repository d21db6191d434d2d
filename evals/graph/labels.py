"""Labels: what kind of team the interactions show, as a sorted tuple of words.

| label | holds where |
|---|---|
| `empty` | there is no call between two agents |
| `dyad` | there are such calls, and no third member |
| `hub` | enough members, degree centralization above its threshold, and one member alone has the \
highest degree (undirected) |
| `bottleneck` | the highest betweenness is above its threshold |
| `over_centralized` | three members or more, one of which takes part in more than the threshold's \
share of the calls |
| `pipeline` | the members with calls form an out-tree that is a path of three or more |
| `hierarchy` | the members with calls form an out-tree that branches, of depth two or more |
| `balanced` | one component, no delegation cycle, Gini of load and degree centralization at most \
their thresholds, no bottleneck |
| `bridge` | exactly one link between members whose loss splits a component into two groups of \
three or more, and whose two ends each have two further neighbours or more |
| `disconnected` | two groups of members or more, each connected by calls, and no call between them |
| `loop` | a delegation cycle |
| `ping_pong` | enough calls, and a share of reversals at or above its threshold |
| `duplicate_work` | a duplicate that is no retry, and a share at or above its threshold |
| `no_progress` | `loop` or `ping_pong`, and half of the calls between agents or more repeat the \
callee and arguments of an earlier one |
| `isolated_member` | a member without calls to or from another, in a team of two or more |
| `failed_member` | a member all of whose calls received from others failed, one or more |
| `silent_failure` | a failed call that was not recovered, whose parent did not fail, and whose \
caller's own step is visible and did not fail |

A roster's idle members count as members, except for the shape of the tree. A figure within 1e-9 of
a threshold counts as equal to it. A label whose metric is undefined does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping

from evals.graph.failures import failed_members, failures_of
from evals.graph.findings import Thresholds, exceeds
from evals.graph.interactions import Interactions
from evals.graph.metric import MetricValue
from evals.graph.nesting import nesting_of
from evals.graph.repeats import asked_by, repeats_of
from evals.graph.shape import bridges_of, groups_of, isolated_members, one_stands_out, out_tree

NEEDED = (
    "betweenness",
    "degree_centralization",
    "interaction_share",
    "load_gini",
    "connected_components",
    "ping_pong_share",
    "duplicate_work",
    "density",
)
"""The metrics that labels and findings are made of."""

RESTS_ON_ALL_CALLS = frozenset(
    {
        *("balanced", "bottleneck", "bridge", "disconnected", "dyad", "empty", "failed_member"),
        *("hierarchy", "hub", "isolated_member", "over_centralized", "pipeline", "silent_failure"),
    }
)
"""The labels that say what did not happen too, or how all calls are spread.

Calls that were not seen could take them away. The others tell of calls that were made."""
_LEAST_MEMBERS = 3
"""Below this, one member's share of the calls says nothing."""


def labels_of(
    team: Interactions, values: Mapping[str, MetricValue], thresholds: Thresholds
) -> tuple[str, ...]:
    """Return the labels of a team, in alphabetical order.

    Args:
        team: The interactions.
        values: What the metrics named in `NEEDED` came to. One that is missing, or has no value,
            takes the labels that rest on it away.
        thresholds: Where labels begin.
    """
    found = {
        "empty": not team.calls,
        "dyad": team.is_dyad,
        "isolated_member": bool(isolated_members(team)),
        "failed_member": bool(failed_members(team)),
        "silent_failure": bool(failures_of(team).silent),
        "bridge": len(bridges_of(team)) == 1,
        "disconnected": len(groups_of(team)) > 1,
        **_shape(team, values, thresholds),
        **_flow(team, values, thresholds),
    }
    return tuple(sorted(label for label, holds in found.items() if holds))


def above(value: MetricValue | None, threshold: float) -> bool:
    """Check whether a metric has a value above the threshold."""
    return value is not None and value.value is not None and exceeds(value.value, threshold)


def _at_most(value: MetricValue | None, threshold: float) -> bool:
    return value is not None and value.value is not None and not exceeds(value.value, threshold)


def _at_least(value: MetricValue | None, threshold: float) -> bool:
    return value is not None and value.value is not None and not exceeds(threshold, value.value)


def _shape(
    team: Interactions, values: Mapping[str, MetricValue], thresholds: Thresholds
) -> dict[str, bool]:
    members = len(team.members)
    bottleneck = above(values.get("betweenness"), thresholds.bottleneck_betweenness)
    centralization = values.get("degree_centralization")
    tree = out_tree(team)
    return {
        "bottleneck": bottleneck,
        "hub": members >= thresholds.hub_members
        and above(centralization, thresholds.hub_centralization)
        and one_stands_out(team),
        "over_centralized": members >= _LEAST_MEMBERS
        and above(values.get("interaction_share"), thresholds.over_centralized_share),
        "pipeline": tree is not None and tree.depth >= 2 and tree.most_callees == 1,
        "hierarchy": tree is not None and tree.depth >= 2 and tree.most_callees > 1,
        "balanced": _at_most(values.get("connected_components"), 1)
        and not nesting_of(team).cycles
        and _at_most(values.get("load_gini"), thresholds.balanced_gini)
        and _at_most(centralization, thresholds.balanced_centralization)
        # Where betweenness is not known, nobody knows that there is no bottleneck.
        and _at_most(values.get("betweenness"), thresholds.bottleneck_betweenness),
    }


def _flow(
    team: Interactions, values: Mapping[str, MetricValue], thresholds: Thresholds
) -> dict[str, bool]:
    loop = bool(nesting_of(team).cycles)
    ping_pong = len(team.calls) >= thresholds.ping_pong_calls and _at_least(
        values.get("ping_pong_share"), thresholds.ping_pong_share
    )
    return {
        "loop": loop,
        "ping_pong": ping_pong,
        "duplicate_work": bool(repeats_of(team).duplicates)
        and _at_least(values.get("duplicate_work"), thresholds.duplicate_share),
        "no_progress": (loop or ping_pong) and 2 * _repeated(team) >= len(team.agent_calls),
    }


def _repeated(team: Interactions) -> int:
    """Count the calls between agents that ask what an earlier one asked, retries too."""
    asked = asked_by(team)
    known = [what for call in team.agent_calls if (what := asked[call.index]) is not None]
    return len(known) - len(set(known))
