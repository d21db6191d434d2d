"""Stated confidence beside outcomes: figures computed by hand, and what is not measured."""

import pytest

from evals.predictability import LEAST_STATED, Stated, predictability

pytestmark = pytest.mark.requirement("test:chaos")


def trials(*pairs, tasks=5):
    """So many trials for each (confidence, passed, times), spread over tasks."""
    flat = [(share, passed) for share, passed, times in pairs for _ in range(times)]
    return [
        Stated(task=number % tasks, confidence=share, passed=passed)
        for number, (share, passed) in enumerate(flat)
    ]


def values(found):
    return found.brier.value, found.calibration_error.value, found.auroc.value


def test_an_agent_that_knows_has_small_errors_and_tells_trials_apart():
    found = predictability(trials((0.9, True, 10), (0.1, False, 10)), scored=20)
    assert values(found) == (0.01, 0.1, 1.0)
    assert found.auroc.interval.high == 1.0
    assert found.brier.interval.holds(0.01)


def test_an_agent_that_is_always_sure_is_wrong_as_often_as_it_fails():
    found = predictability(trials((1.0, True, 5), (1.0, False, 15)), scored=20)
    assert values(found) == (0.75, 0.75, 0.5)
    assert found.calibration_error.interval.low < 0.75 < found.calibration_error.interval.high


def test_an_agent_whose_confidence_is_its_rate_is_calibrated_and_tells_nothing_apart():
    found = predictability(trials((0.25, True, 5), (0.25, False, 15)), scored=20)
    assert values(found) == (0.1875, 0.0, 0.5)


def test_one_that_is_the_other_way_round_has_an_auroc_of_nothing_and_ties_count_half():
    assert values(predictability(trials((0.1, True, 10), (0.9, False, 10)), scored=20))[2] == 0.0
    tied = trials((0.9, True, 10), (0.5, True, 10), (0.5, False, 10))
    assert predictability(tied, scored=30).auroc.value == 0.75


def test_too_few_statements_are_unscored_with_the_reason():
    few = predictability(trials((0.9, True, LEAST_STATED - 1)), scored=40)
    assert values(few) == (None, None, None)
    assert few.brier.reason == "19 of 40 scored trials stated a confidence, and 20 are needed"


@pytest.mark.parametrize(("passed", "word"), [(True, "passed"), (False, "did not pass")])
def test_where_all_came_to_the_same_nothing_can_be_told_apart(passed, word):
    found = predictability(trials((0.8, passed, 20)), scored=20)
    assert found.auroc.value is None
    assert found.auroc.reason.startswith(f"every trial that stated one {word}")
    assert found.brier.value is not None


def test_two_tasks_have_figures_and_no_interval():
    found = predictability(trials((0.9, True, 10), (0.1, False, 10), tasks=2), scored=20)
    assert (found.brier.value, found.brier.interval) == (0.01, None)
