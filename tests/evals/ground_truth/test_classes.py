"""The classes of teams: which labels make which, and that a team's size alone makes none."""

from itertools import combinations, permutations
from typing import get_args

import pytest
from ground_truth import CoordinationClass, Label, class_of
from hypothesis import given
from hypothesis import strategies as st

from evals.graph.catalogue import builtin_metrics
from evals.graph.evaluator import measured
from evals.graph.findings import Thresholds
from evals.graph.labels import NEEDED, labels_of
from tests.fakes.teams import team_of

SIZES = range(3, 13)


def found_class(pairs, roster=None):
    team = team_of(*pairs, roster=roster)
    values = {m.name: measured(m, team) for m in builtin_metrics() if m.name in NEEDED}
    return class_of(labels_of(team, values, Thresholds()))


def named(prefix, pairs):
    return [(f"{prefix}{one:02}", f"{prefix}{other:02}") for one, other in pairs]


def ring(size):
    return [(member, (member + 1) % size) for member in range(size)]


def mesh(size):
    return list(permutations(range(size), 2))


def star(size):
    return [(0, member) for member in range(1, size)]


def inward_star(size):
    return [(member, 0) for member in range(1, size)]


def chain(size):
    return [(member, member + 1) for member in range(size - 1)]


def binary_tree(size):
    return [((member - 1) // 2, member) for member in range(1, size)]


def ternary_tree(size):
    return [((member - 1) // 3, member) for member in range(1, size)]


SHAPES = {
    ring: "high",
    mesh: "high",
    star: "bottleneck",
    inward_star: "bottleneck",
    chain: "bottleneck",
    binary_tree: "bottleneck",
    ternary_tree: "bottleneck",
}
every_shape = pytest.mark.parametrize(
    ("shape", "expected"), SHAPES.items(), ids=[shape.__name__ for shape in SHAPES]
)
every_size = pytest.mark.parametrize("size", SIZES)


@every_size
@every_shape
def test_a_shape_has_the_same_class_at_every_size(shape, expected, size):
    assert found_class(named("a", shape(size))) == expected


@every_size
@every_shape
def test_two_of_a_shape_side_by_side_are_low_at_every_size(shape, expected, size):
    assert found_class([*named("a", shape(size)), *named("b", shape(size))]) == "low"


@every_size
@every_shape
def test_a_shape_beside_an_idle_member_is_degraded_at_every_size(shape, expected, size):
    pairs = named("a", shape(size))
    members = {end for pair in pairs for end in pair}
    assert found_class(pairs, roster=[*members, "idle"]) == "degraded"


@pytest.mark.parametrize("size", range(5, 13))
def test_a_ring_in_which_each_asks_the_next_two_is_high_at_every_size(size):
    """At 9 members its density falls below 0.3."""
    pairs = [(member, (member + step) % size) for member in range(size) for step in (1, 2)]
    assert found_class(named("a", pairs)) == "high"


@pytest.mark.parametrize("size", range(6, 13))
def test_a_ring_that_asks_one_member_more_often_is_medium_at_every_size(size):
    """It receives 1 + k of n + k calls, the others 1 each: Gini k / (n + k), about 3/7."""
    more = [(0, 1)] * (3 * size // 4)
    assert found_class(named("a", [*ring(size), *more])) == "medium"


MADE_BY = {
    "degraded": {"isolated_member", "failed_member", "silent_failure"},
    "loop": {"loop", "ping_pong", "no_progress"},
    "bottleneck": {"bottleneck", "hub", "over_centralized"},
    "low": {"empty", "dyad", "disconnected", "duplicate_work"},
    "high": {"balanced"},
    "medium": {"bridge", "hierarchy", "pipeline"},
}


def test_every_label_makes_one_class_and_every_class_is_made():
    assert {label for labels in MADE_BY.values() for label in labels} == set(get_args(Label))
    assert set(MADE_BY) == set(get_args(CoordinationClass))
    for name, labels in MADE_BY.items():
        assert {class_of([label]) for label in labels} == {name}
    assert class_of([]) == "medium"


def test_of_two_labels_the_class_that_is_defined_first_holds():
    for (first, ones), (_, others) in combinations(MADE_BY.items(), 2):
        for one in ones:
            for other in others:
                assert class_of([one, other]) == class_of([other, one]) == first


@given(st.sets(st.sampled_from(get_args(Label))), st.sampled_from(["degraded", "loop", "low"]))
def test_a_label_of_a_fault_makes_no_class_better(labels, fault):
    order = ["degraded", "loop", "bottleneck", "low", "medium", "high"]
    for label in MADE_BY[fault]:
        assert order.index(class_of({*labels, label})) <= order.index(class_of(labels))
