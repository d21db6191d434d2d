from datetime import UTC, datetime, timedelta

import pytest

from evals.graph.catalogue import builtin_metrics
from evals.graph.evaluator import measured
from evals.graph.findings import MOST_AGENTS, MOST_STEPS, Thresholds, findings_of
from evals.graph.interactions import Interactions
from evals.graph.labels import NEEDED, labels_of
from evals.graph.rewiring import percentiles
from evals.trace import CallType, InteractionStep, Trace

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def call(ends, asks=None, *, parent=None, error=None):
    return {"caller": ends[0], "callee": ends[1], "request_text": asks, "error": error} | {
        "parent_step_id": parent
    }


def findings(*calls, roster=None, thresholds=None):
    """By name; the steps are numbered from 1."""
    steps = tuple(
        InteractionStep(
            step_id=str(number),
            trace_id="t",
            call_type=CallType.AGENT,
            start_time=NOW + timedelta(seconds=number),
            end_time=NOW + timedelta(seconds=number),
            **(fields if isinstance(fields, dict) else call(fields)),
        )
        for number, fields in enumerate(calls, start=1)
    )
    team = Interactions.of(Trace(trace_id="t", steps=steps), roster)
    thresholds = thresholds or Thresholds()
    values = {m.name: measured(m, team) for m in builtin_metrics() if m.name in NEEDED}
    labels = labels_of(team, values, thresholds)
    found = findings_of(team, values, labels, thresholds, percentiles=percentiles(team))
    assert all(finding.statement.endswith(".") for finding in found)
    return {finding.name: finding for finding in found}


@pytest.mark.requirement("graph:bottleneck")
def test_a_bottleneck_is_named_with_its_betweenness_and_the_calls_that_touch_it():
    # The path a-b-c-d-e: b and d lie between 3 of 6 pairs (.5), c between 4 (.67).
    found = findings("ab", "bc", "cd", "de")["bottleneck"]
    assert found.agents == ("c",)
    assert found.value == pytest.approx(2 / 3)
    assert found.threshold == 0.5
    assert found.step_ids == ("2", "3")
    assert found.statement == (
        "c lies on most of the shortest paths between the others: betweenness 0.667 (limit 0.5)."
    )


@pytest.mark.requirement("graph:bottleneck")
def test_bottlenecks_come_highest_first_and_a_ring_has_none():
    found = findings(
        "ab", "ac", "bd", "be", "cf", "cg", thresholds=Thresholds(bottleneck_betweenness=0.5)
    )
    assert found["bottleneck"].agents == ("a", "b", "c")
    assert "bottleneck" not in findings("ab", "bc", "cd", "da")


@pytest.mark.requirement("graph:isolated")
def test_members_of_the_roster_whom_nobody_talks_to_are_named():
    found = findings("ab", "cc", roster=["d", "b"])["isolated_agent"]
    assert found.agents == ("c", "d")
    assert found.value == 2.0
    assert found.step_ids == ("2",)
    assert found.details == {"idle": 1.0}
    assert "isolated_agent" not in findings("ab", "bc", roster="abc")


def test_the_groups_of_a_team_are_named_with_a_call_of_each():
    found = findings("ab", "de", "bc", "fd", "ef", roster="g")["disconnected"]
    assert found.agents == ("a", "b", "c", "d", "e", "f")
    assert (found.value, found.threshold) == (2.0, 1.0)
    assert found.step_ids == ("1", "2")
    assert found.statement == (
        "The team falls into 2 groups that never call each other: a, b and c; d, e and f."
    )
    assert "disconnected" not in findings("ab", "bc", roster="abcd")


def test_of_many_groups_the_largest_are_named_and_the_others_counted():
    pairs = [(f"x{number}", f"y{number}") for number in range(30)]
    found = findings(*map(call, pairs), call(("x7", "z")))["disconnected"]
    assert found.statement == (
        "The team falls into 30 groups that never call each other: x7, y7 and z; x0 and y0; "
        "x1 and y1; and 27 more groups."
    )
    assert found.step_ids[:3] == ("8", "1", "2")
    assert (len(found.step_ids), found.steps_in_all) == (MOST_STEPS, 30)
    assert (len(found.agents), found.details["agents_in_all"]) == (MOST_AGENTS, 61.0)


@pytest.mark.requirement("graph:over-centralized")
def test_an_agent_in_most_of_the_interactions_is_named_with_its_share():
    found = findings("ab", "ac", "ca", "bc")["over_centralized"]
    assert found.agents == ("a", "c")
    assert found.value == 0.75
    assert found.threshold == 0.7
    assert found.steps_in_all == 4
    assert found.statement == "a and c each take part in up to 3 of 4 calls (limit 70 %)."
    assert "over_centralized" not in findings("ab", "bc", "ca")


@pytest.mark.requirement("graph:distribution")
def test_density_is_told_with_the_size_of_the_team_beside_it():
    spread = findings("ab", "bc", "cd", "da")["distribution"]
    assert spread.value == pytest.approx(1 / 3)
    assert spread.details["verdict"] == "spread"
    assert (spread.details["members"], spread.details["edges"]) == (4.0, 4.0)
    star = findings("ab", "ac", "ad", "ae")["distribution"]
    assert star.value == 0.2
    assert star.details["verdict"] == "not spread"
    assert star.statement == (
        "The calls are not spread over the team: 5 members with 4 edges, density 0.2 (limit 0.3)."
    )


@pytest.mark.requirement("graph:distribution")
def test_density_comes_with_the_teams_place_among_random_graphs_of_its_degrees():
    details = findings("ab", "bc", "cd", "de", "ea", "ac")["distribution"].details
    assert 0 <= details["betweenness_centralization_percentile"] <= 1
    assert details["density_percentile_unknown"].startswith("fixed")
    star = findings("ab", "ac", "ad", "ae")["distribution"].details
    assert "no other graph" in star["betweenness_centralization_percentile_unknown"]


def test_a_density_at_the_threshold_is_not_above_it():
    # 6 edges of 20 ordered pairs.
    found = findings("ab", "bc", "cd", "de", "ea", "ac")["distribution"]
    assert found.value == 0.3
    assert found.details["verdict"] == "not spread"


def test_the_density_of_a_small_team_is_said_to_mean_little():
    assert "any connected team of 3 or fewer" in findings("ab", "bc")["distribution"].statement


def test_a_team_of_one_has_no_density_and_no_finding():
    assert findings("aa") == {}


def test_flow_and_failures_are_found_with_the_steps_that_show_them():
    looped = findings(call("ab", "q"), call("bc", "r", parent="1"), call("cb", "q", parent="2"))
    assert looped["loop"].step_ids == ("3",)
    assert looped["loop"].agents == ("b",)

    back = findings("ab", "ba", "ab", "ba")["ping_pong"]
    assert back.step_ids == ("2", "3", "4")
    assert back.value == 1.0
    assert back.agents == ("a", "b")

    twice = findings(call("ab", "q"), call("cb", "q"), call("ac", "r"))["duplicate_work"]
    assert twice.step_ids == ("2",)
    assert twice.details == {"retries": 0.0}

    failing = findings(call("ab"), call("bc", parent="1", error="x"), call("bd", parent="1"))
    assert failing["silent_failure"].step_ids == ("2",)
    assert failing["silent_failure"].details == {"unknown": 0.0}
    assert failing["failed_member"].agents == ("c",)
    assert failing["failed_member"].step_ids == ("2",)


def test_a_call_to_oneself_is_no_evidence_of_a_failed_member():
    failed = findings("ab", call("bc", error="x"), "cc")["failed_member"]
    assert failed.step_ids == ("2",)
    assert failed.statement == "Every call to c failed (1 in all)."
    assert "failed_member" not in findings("ab", "bc", call("cc", error="x"))


def test_evidence_is_bounded_and_says_how_much_there_is():
    many = findings(*(call(("lead", f"w{number:02}")) for number in range(30)))
    hub = many["over_centralized"]
    assert len(hub.step_ids) == MOST_STEPS
    assert hub.steps_in_all == 30
    idle = findings("ab", roster=[f"m{number:02}" for number in range(25)])["isolated_agent"]
    assert len(idle.agents) == MOST_AGENTS
    assert idle.details["agents_in_all"] == 25.0
    assert "m00, m01, m02 and 22 more neither called" in idle.statement


def test_a_name_of_any_length_leaves_a_statement_readable():
    found = findings(call(("x" * 10_000, "b")), "bc")["bottleneck"]
    assert len(found.statement) < 300
    idle = findings("ab", roster=["y" * 10_000])["isolated_agent"]
    assert len(idle.statement) < 300
    assert idle.agents == ("y" * 10_000,)
