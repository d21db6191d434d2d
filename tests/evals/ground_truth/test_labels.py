"""Every label and class of the file, against the edges themselves and against the evaluator."""

from collections import Counter
from fractions import Fraction
from typing import get_args

import pytest
from ground_truth import (
    CoordinationClass,
    Label,
    class_of,
    read_ground_truth,
    trace_of,
)

from evals.base import EvaluationContext
from evals.graph.evaluator import GraphEvaluator


@pytest.fixture(scope="module")
def scenarios(raw):
    return read_ground_truth(raw).scenarios


@pytest.fixture(scope="module")
def stated(raw):
    """What the file says of each scenario that is a trace."""
    return {
        scenario["id"]: (scenario["labels"], scenario["class"])
        for scenario in raw["scenarios"]
        if scenario["source"]["kind"] == "trace"
    }


@pytest.mark.requirement("data:ground-truth")
def test_there_are_enough_scenarios_of_both_kinds_and_of_every_class(raw):
    kinds = Counter(scenario["source"]["kind"] for scenario in raw["scenarios"])
    classes = Counter(scenario["class"] for scenario in raw["scenarios"])
    assert kinds["trace"] >= 36
    assert kinds["team"] >= 10
    assert set(classes) == set(get_args(CoordinationClass))
    assert min(classes.values()) >= 5


def test_every_label_occurs_and_is_missing_elsewhere(stated):
    counts = Counter(label for labels, _ in stated.values() for label in labels)
    assert set(counts) == set(get_args(Label))
    assert max(counts.values()) < len(stated)


@pytest.mark.requirement("data:ground-truth")
def test_labels_and_classes_follow_from_the_edges(raw, stated, derivation):
    derived = {
        scenario["id"]: derivation.labels_and_class(scenario["source"])
        for scenario in raw["scenarios"]
        if scenario["source"]["kind"] == "trace"
    }
    assert derived == stated


@pytest.mark.requirement("data:ground-truth")
async def test_the_evaluator_finds_the_labels_and_classes_of_every_trace(scenarios, stated):
    evaluator = GraphEvaluator()
    found = {}
    for scenario in scenarios:
        if scenario.source.kind == "trace":
            trace = trace_of(scenario.source, trace_id=scenario.id)
            context = EvaluationContext(trace=trace, roster=scenario.source.roster)
            evaluation = await evaluator.evaluate(context)
            labels = evaluation.details["labels"]
            found[scenario.id] = (labels, class_of(labels))
    assert found == stated


def test_traces_of_the_file_have_nothing_that_cannot_be_used(scenarios):
    from evals.graph.interactions import Interactions

    for scenario in scenarios:
        if scenario.source.kind == "trace":
            trace = trace_of(scenario.source, trace_id=scenario.id)
            assert Interactions.of(trace, scenario.source.roster).problems == (), scenario.id


AT_THE_LIMIT = {
    "bull": ("highest_betweenness", Fraction(1, 2)),
    "centralization-at-the-limit": ("degree_centralization", Fraction(1, 5)),
    "density-and-gini-at-the-limit": ("gini", Fraction(1, 5)),
    "density-at-three-tenths": ("density", Fraction(3, 10)),
    "gini-and-share-at-the-limit": ("interaction_share", Fraction(7, 10)),
    "handed-back-at-the-limit": ("ping_pong_share", Fraction(1, 2)),
    "hub-at-the-limit": ("degree_centralization", Fraction(7, 10)),
    "one-duplicate-in-ten": ("duplicate_share", Fraction(1, 10)),
    "share-and-betweenness-at-the-limit": ("highest_betweenness", Fraction(1, 2)),
}


@pytest.mark.parametrize("scenario_id", sorted(AT_THE_LIMIT))
def test_a_borderline_scenario_lies_exactly_at_its_threshold(raw, derivation, scenario_id):
    source = next(s["source"] for s in raw["scenarios"] if s["id"] == scenario_id)
    name, threshold = AT_THE_LIMIT[scenario_id]
    assert derivation.figure(name, source) == threshold


def team_scenarios(raw):
    return [s for s in raw["scenarios"] if s["source"]["kind"] == "team"]


@pytest.mark.requirement("data:ground-truth")
def test_scenarios_of_teams_name_teams_and_members_that_there_are(raw, teams):
    for scenario in team_scenarios(raw):
        team = teams[scenario["source"]["team"]]
        members = {fault.partition(":")[2] for fault in scenario["source"]["faults"]}
        assert members <= set(team["members"]), scenario["id"]
    assert {scenario["source"]["team"] for scenario in team_scenarios(raw)} == set(teams)


def test_a_team_without_failing_members_has_the_labels_of_its_manifest(raw, teams):
    for scenario in team_scenarios(raw):
        kinds = {fault.partition(":")[0] for fault in scenario["source"]["faults"]}
        if kinds <= {"slow"}:
            manifest = teams[scenario["source"]["team"]]
            assert scenario["labels"] == sorted(manifest["labels"]), scenario["id"]


def test_a_specialist_that_fails_adds_a_failed_member_and_a_silent_failure(raw, teams):
    """Its caller goes on without it, and nobody else asks it again with success."""
    for scenario in team_scenarios(raw):
        kinds = {fault.partition(":")[0] for fault in scenario["source"]["faults"]}
        if not kinds <= {"slow"}:
            without = set(teams[scenario["source"]["team"]]["labels"])
            with_fault = without | {"failed_member", "silent_failure"}
            assert scenario["labels"] == sorted(with_fault), scenario["id"]


def test_the_class_of_a_team_follows_from_its_labels(raw, derivation):
    for scenario in team_scenarios(raw):
        assert scenario["class"] == class_of(scenario["labels"]), scenario["id"]
        assert scenario["class"] == derivation.class_of(scenario["labels"]), scenario["id"]
