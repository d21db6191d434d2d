import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.graph.consistency import ACROSS_TRIALS, action_consistency, outcome_consistency


def test_the_outcomes_of_trials_that_end_alike_are_consistent():
    assert outcome_consistency({"a": [True] * 3, "b": [False] * 3}).value == 1.0


def test_outcome_consistency_of_a_hand_computed_case():
    # (2 * 3/4 - 1)^2 = 1/4 and (2 * 1/2 - 1)^2 = 0
    found = outcome_consistency({"a": [True, True, True, False], "b": [True, False], "c": [True]})
    assert found.value == 0.125
    assert found.details == {"tasks": 2, "tasks_with_one_trial_or_none": 1}


def test_action_consistency_of_a_hand_computed_case():
    # One of three actions differs, one is missing, two of three differ: 2/3, 2/3, 1/3 alike.
    trials = [["look", "book", "tell"], ["look", "pay", "tell"], ["look", "book"]]
    assert action_consistency({"a": trials}).value == pytest.approx((2 / 3 + 2 / 3 + 1 / 3) / 3)


def test_identical_runs_are_consistent_and_so_are_those_without_actions():
    assert action_consistency({"a": [["x", "y"]] * 4, "b": [[], []]}).value == 1.0


def test_runs_without_a_common_action_are_not_consistent():
    assert action_consistency({"a": [["x", "y"], ["z"]]}).value == 0.0


@pytest.mark.parametrize("tasks", [{}, {"a": []}, {"a": [[]], "b": [["x"]]}])
def test_consistency_needs_two_trials_of_a_task(tasks):
    for found in (outcome_consistency(tasks), action_consistency(tasks)):
        assert found.value is None
        assert found.status == "unscored"
        assert "two trials" in found.reason


def test_metrics_across_trials_can_be_listed():
    assert [metric.name for metric in ACROSS_TRIALS] == [
        "outcome_consistency",
        "action_consistency",
    ]
    assert all(m.formula and m.source and m.range and m.needs for m in ACROSS_TRIALS)


@given(st.lists(st.lists(st.sampled_from("xyz"), max_size=5), min_size=2, max_size=5), st.data())
def test_the_order_of_trials_does_not_matter(trials, data):
    shuffled = data.draw(st.permutations(trials))
    one, other = action_consistency({"a": trials}), action_consistency({"a": shuffled})
    assert one.value == pytest.approx(other.value)
    assert 0 <= one.value <= 1
