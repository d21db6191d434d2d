from datetime import UTC, datetime, timedelta
from itertools import permutations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.graph.catalogue import builtin_metrics
from evals.graph.evaluator import measured
from evals.graph.findings import Thresholds
from evals.graph.interactions import Interactions
from evals.graph.labels import NEEDED, labels_of
from evals.graph.shape import bridges_of, groups_of
from evals.trace import CALLER_KIND, USER, CallType, InteractionStep, Trace

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def team(*calls, roster=None):
    """Calls as "ab", or as ("ab", fields); nothing is asked twice unless the fields say so."""
    steps = tuple(
        InteractionStep(
            **{
                "step_id": str(number),
                "trace_id": "t",
                "call_type": CallType.AGENT,
                "caller": plan[0][0] if isinstance(plan, tuple) else plan[0],
                "callee": plan[0][1] if isinstance(plan, tuple) else plan[1],
                "request_text": f"request {number}",
                "start_time": NOW + timedelta(seconds=number),
                "end_time": NOW + timedelta(seconds=number),
                **(plan[1] if isinstance(plan, tuple) else {}),
            }
        )
        for number, plan in enumerate(calls, start=1)
    )
    return Interactions.of(Trace(trace_id="t", steps=steps), roster)


def asks(ends, text, **fields):
    return ends, {"request_text": text, **fields}


def fails(ends, **fields):
    return ends, {"error": "down", **fields}


def below(ends, parent, **fields):
    return ends, {"parent_step_id": parent, **fields}


def labels(*calls, roster=None, thresholds=None):
    whole = team(*calls, roster=roster)
    values = {m.name: measured(m, whole) for m in builtin_metrics() if m.name in NEEDED}
    return set(labels_of(whole, values, thresholds or Thresholds()))


STAR5 = ("ab", "ac", "ad", "ae")
CHAIN4 = ("ab", "bc", "cd")
MESH4 = tuple("".join(pair) for pair in permutations("abcd", 2))
TREE7 = ("ab", "ac", "bd", "be", "cf", "cg")
BRIDGE6 = ("ab", "ac", "ad", "de", "df")
PING_PONG = ("ab", "ba", "ab", "ba", "ab", "ba", "ab", "ba")


def test_labels_of_the_reference_teams():
    assert labels(*STAR5) == {"hub", "bottleneck", "over_centralized"}
    assert labels(*CHAIN4) == {"pipeline", "bottleneck"}
    assert labels(*MESH4) == {"balanced"}
    assert labels(*TREE7) == {"hierarchy", "bottleneck"}
    assert labels(*BRIDGE6) == {"hierarchy", "bottleneck", "bridge"}


def test_a_ping_pong_about_the_same_question_is_a_loop_without_progress():
    nested = [
        asks(ends, "q", parent_step_id=str(number) if number else None)
        for number, ends in enumerate(PING_PONG)
    ]
    assert labels(*nested) == {"dyad", "loop", "ping_pong", "duplicate_work", "no_progress"}


def test_a_degraded_team_of_four_has_an_isolated_and_a_failed_member():
    outside = ("ua", {"additional_attributes": {CALLER_KIND: USER}})
    found = labels(outside, below("ab", "1"), below("ac", "1", error="x"), roster="abcd")
    assert found == {"isolated_member", "failed_member", "silent_failure", "over_centralized"}


def test_no_call_between_agents_is_empty_and_two_members_are_a_dyad():
    assert labels() == {"empty"}
    assert labels("aa") == {"empty"}
    assert labels(roster=["a"]) == {"empty"}
    assert labels(roster=["a", "b"]) == {"empty", "isolated_member"}
    assert labels("ab") == {"dyad"}


def test_a_dyad_beside_an_idle_member_is_a_team_of_three():
    assert labels("ab", roster="abc") == {"isolated_member", "over_centralized"}


def test_a_hub_takes_four_members_and_stands_out_alone():
    assert "hub" not in labels("ab", "ac")
    assert "hub" in labels("ab", "ac", "ad")
    # Ten around two centres that also call each other: 10 * (11 - 2) / (11 * 10) = .82 is above
    # the threshold, but the two share the highest degree.
    two_centres = [f"{centre}{leaf}" for centre in "xy" for leaf in "abcdefghij"]
    assert "hub" not in labels("xy", *two_centres)


def test_a_hub_takes_a_degree_centralization_above_the_threshold():
    # n = 4, degrees 3, 2, 2, 1: (0 + 1 + 1 + 2) / 6 = 2/3; n = 6, 5 and five of 1 plus a link
    # between two leaves, degrees 5, 2, 2, 1, 1, 1: (3 + 3 + 4 + 4 + 4) / 20 = .9
    assert "hub" not in labels("ab", "ac", "ad", "bc")
    assert "hub" in labels("ab", "ac", "ad", "ae", "af", "bc")
    exactly = Thresholds(hub_centralization=0.9)
    assert "hub" not in labels("ab", "ac", "ad", "ae", "af", "bc", thresholds=exactly)


def test_a_bottleneck_takes_a_betweenness_above_the_threshold():
    # In the path of 3 the middle has 1; in the ring of 4 everybody 1/6; in the star of 5 exactly 1.
    assert "bottleneck" in labels("ab", "bc")
    assert "bottleneck" not in labels("ab", "bc", "cd", "da")
    assert "bottleneck" not in labels(*STAR5, thresholds=Thresholds(bottleneck_betweenness=1.0))


def test_over_centralized_takes_more_than_the_share_of_the_calls():
    # a takes part in 7 of 10 calls, then in 8 of 11.
    seven = ("ab", "ac", "ad", "ab", "ac", "ad", "ab", "bc", "cd", "db")
    assert "over_centralized" not in labels(*seven)
    assert "over_centralized" in labels(*seven, "ac")


def test_over_centralized_takes_three_members():
    assert "over_centralized" not in labels("ab", "ab")
    assert "over_centralized" in labels("ab", "bc")


@pytest.mark.parametrize(
    ("calls", "shape"),
    [
        (("ab", "bc"), {"pipeline"}),
        (("ab", "bc", "ab", "bc"), {"pipeline"}),
        (("ab",), set()),
        (("ab", "cb"), set()),
        (("ab", "bc", "ca"), set()),
        (("ab", "bc", "cb"), set()),
        (("ab", "cd", "dc"), set()),
        (("ab", "ac"), set()),
        (("ab", "bc", "bd"), {"hierarchy"}),
        (("ab", "bc", "ad", "dc"), set()),
        (("ab", "bc", "de", "ef"), set()),
    ],
)
def test_pipelines_and_hierarchies_are_out_trees_of_depth_two_or_more(calls, shape):
    assert labels(*calls) & {"pipeline", "hierarchy"} == shape


def test_an_idle_member_takes_the_shape_of_a_tree_from_no_team():
    assert {"pipeline", "isolated_member"} <= labels("ab", "bc", roster="abcd")


def test_balanced_takes_one_component_even_load_and_no_centre():
    ring = ("ab", "bc", "cd", "da")
    assert "balanced" in labels(*ring)
    assert "balanced" not in labels(*ring, roster="abcde")
    assert "balanced" not in labels("ab", "ba")
    assert "balanced" not in labels(*ring, below("cb", "1", request_text="request 1"))


def test_a_load_gini_at_the_threshold_is_still_balanced():
    # A ring of 4 and calls received 2, 1, 1, 1: Gini = (sum of all differences) 6 / (2 * 4 * 5),
    # times 4/3 = .2, exactly the threshold; with 3, 1, 1, 1 it is 12 / 48 * 4/3 = 1/3.
    ring = ("ab", "bc", "cd", "da")
    assert "balanced" in labels(*ring, "ab")
    assert "balanced" not in labels(*ring, "ab", "ab")


def test_ping_pong_takes_four_calls_and_half_of_the_handoffs():
    assert "ping_pong" not in labels("ab", "ba", "ab")
    assert "ping_pong" in labels("ab", "ba", "ab", "ba")
    # 2 of 4 handoffs go back, then 2 of 5.
    assert "ping_pong" in labels("ab", "ba", "ab", "bc", "ca")
    assert "ping_pong" not in labels("ab", "ba", "ab", "bc", "ca", "ab")


def test_duplicate_work_takes_a_tenth_of_the_calls_and_no_retry():
    nine = [asks("ab", f"q{number}") for number in range(9)]
    assert "duplicate_work" in labels(*nine, asks("cb", "q0"))
    assert "duplicate_work" not in labels(*nine, asks("ab", "q9"), asks("cb", "q0"))
    assert "duplicate_work" not in labels(asks("ab", "q", error="down"), asks("ab", "q"))


def test_no_progress_takes_a_ping_pong_or_loop_whose_calls_repeat():
    back_and_forth = ("ab", "ba", "ab", "ba")
    assert "no_progress" not in labels(*back_and_forth)
    assert "no_progress" in labels(*(asks(ends, "q") for ends in back_and_forth))
    # 2 of 5 calls repeat an earlier one.
    assert "no_progress" not in labels(*(asks(e, "q") for e in back_and_forth), asks("ab", "r"))
    assert "no_progress" not in labels(asks("ab", "q"), asks("ab", "q"), asks("ab", "q"))


def test_a_member_is_failed_only_if_all_calls_to_it_failed():
    assert "failed_member" in labels(fails("ab"), "ac")
    assert "failed_member" not in labels(fails("ab"), "ab", "ac")


def test_a_failure_that_takes_its_caller_down_or_is_made_good_is_not_silent():
    assert "silent_failure" in labels("ab", below("bc", "1", error="x"))
    again = {"request_text": "q"}
    made_good = below("bc", "1", error="x", **again), below("bc", "1", **again)
    assert "silent_failure" not in labels("ab", *made_good)
    # The step above failed as well.
    told = fails("ab"), below("bc", "1", error="x")
    assert "silent_failure" not in labels(*told)


def test_a_failure_is_silent_only_where_its_callers_own_step_is_visible():
    assert "silent_failure" not in labels(fails("ab"), "bc")
    assert "silent_failure" not in labels("ab", below("cd", "1", error="x"))
    assert "silent_failure" in labels("ab", below("bd", "1", error="x"))


@pytest.mark.parametrize(
    ("calls", "roster", "found"),
    [
        # Two stars, two rings, two pairs.
        (("ab", "ac", "ad", "ef", "eg", "eh"), None, {"disconnected"}),
        (("ab", "bc", "ca", "de", "ef", "fd"), None, {"disconnected"}),
        (("ab", "cd"), None, {"disconnected"}),
        # Three stars.
        (("ab", "ac", "de", "df", "gh", "gi"), None, {"disconnected"}),
        # A star whose centre has part in 4 of 5 calls, beside a pair.
        (("ab", "ac", "ad", "ae", "fg"), None, {"disconnected", "over_centralized"}),
        # One link makes them one team.
        (("ab", "ac", "ad", "ef", "eg", "eh", "ae"), None, {"bottleneck", "bridge", "hierarchy"}),
        # Members without calls are no groups: calls to themselves and to tools are none.
        (STAR5, "abcdef", {"hub", "bottleneck", "over_centralized", "isolated_member"}),
        (("ab", "bc", "ca", "dd"), None, {"isolated_member"}),
        (("ab", "bc", "ca", ("ds", {"call_type": CallType.TOOL})), "abcd", {"isolated_member"}),
        (("ab", "cd"), "abcde", {"disconnected", "isolated_member"}),
    ],
)
def test_a_team_is_disconnected_if_calls_leave_two_groups_or_more(calls, roster, found):
    assert labels(*calls, roster=roster) == found


def test_a_call_from_outside_connects_no_groups():
    outside = {"additional_attributes": {CALLER_KIND: USER}}
    calls = ("ua", outside), below("ab", "1"), ("uc", outside), below("cd", "3")
    assert labels(*calls) == {"disconnected"}


edges = st.lists(
    st.sampled_from(["ab", "bc", "ca", "de", "ed", "fg", "cd", "gf", "aa"]), max_size=9
)


@given(edges, st.data())
def test_neither_the_order_of_steps_nor_names_move_a_group(pairs, data):
    name = dict(zip("abcdefg", data.draw(st.permutations("abcdefg")), strict=True))
    others = data.draw(st.permutations([f"{name[one]}{name[other]}" for one, other in pairs]))
    groups = {frozenset(group) for group in groups_of(team(*pairs))}
    graph = nx.Graph([tuple(pair) for pair in pairs if pair[0] != pair[1]])
    assert groups == {frozenset(part) for part in nx.connected_components(graph)}
    renamed = {frozenset(name[member] for member in group) for group in groups}
    assert {frozenset(group) for group in groups_of(team(*others))} == renamed
    assert ("disconnected" in labels(*others)) is (len(groups) > 1)


@pytest.mark.parametrize(
    ("calls", "links"),
    [
        (BRIDGE6, (("a", "d"),)),
        (("ba", "ca", "da", "ed", "fd", "bc"), (("a", "d"),)),
        (TREE7, ()),
        (("ab", "bc", "cd", "de", "ef"), ()),
        (("ab", "ac", "ad", "de", "df", "be"), ()),
        (("ab", "ac", "ad", "de", "df", "ag", "gh", "gi"), (("a", "d"), ("a", "g"))),
        (("ab", "ac", "ad", "de"), ()),
    ],
)
def test_bridges_join_two_groups_of_three_at_ends_with_further_neighbours(calls, links):
    assert bridges_of(team(*calls)) == links
    assert ("bridge" in labels(*calls)) is (len(links) == 1)


def test_a_label_whose_metric_has_no_value_does_not_hold():
    whole = team(*STAR5, "ba")
    assert labels_of(whole, {}, Thresholds()) == ()


def test_labels_come_in_alphabetical_order():
    whole = team(*STAR5)
    values = {m.name: measured(m, whole) for m in builtin_metrics() if m.name in NEEDED}
    found = labels_of(whole, values, Thresholds())
    assert list(found) == sorted(found)
