"""Intervals that cover what they should, tests that err as often as they say."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evals.reward import pass_hat_k_by_task
from evals.statistics import DRAWS, EXACT_UP_TO, Interval, compare, interval_of_mean, sign_flip_test

TRIALS = 4


def passed(*counts, trials=TRIALS):
    """A run: for each task, the outcomes of its trials."""
    return {f"t{n}": [True] * c + [False] * (trials - c) for n, c in enumerate(counts)}


def test_no_task_has_no_interval():
    assert interval_of_mean([]) is None


def test_an_interval_of_tasks_that_pass_or_fail_is_that_of_a_share():
    """Jeffreys' interval is known in closed form: quantiles of Beta(successes + 1/2, ...)."""
    found = interval_of_mean([1.0] * 7 + [0.0] * 13)
    low, high = stats.beta.ppf([0.025, 0.975], 7.5, 13.5)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)


def test_a_few_tasks_that_all_passed_are_not_certainty():
    three, thirty = interval_of_mean([1.0] * 3), interval_of_mean([1.0] * 30)
    assert three.high == thirty.high == 1.0
    assert 0.3 < three.low < 0.6
    assert 0.9 < thirty.low < 1.0


def test_an_interval_holds_both_of_its_ends_and_nothing_outside():
    found = Interval(low=0.25, high=0.5)
    assert [found.holds(value) for value in (0.2, 0.25, 0.4, 0.5, 0.6)] == [
        *[False, True, True, True, False]
    ]
    assert found.width == 0.25
    assert found.reaching(Interval(low=0.3, high=0.9)) == Interval(low=0.25, high=0.9)


@pytest.mark.parametrize("tasks", [3, 200])
def test_the_ends_of_an_interval_are_told_to_six_digits(tasks):
    found = interval_of_mean([place / tasks for place in range(tasks)])
    assert all(end == round(end, 6) and end != round(end, 5) for end in (found.low, found.high))


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=20))
def test_an_interval_holds_its_mean_and_stays_on_the_scale(values):
    found = interval_of_mean(values)
    assert 0 <= found.low <= sum(values) / len(values) + 1e-6
    assert sum(values) / len(values) - 1e-6 <= found.high <= 1
    assert found == interval_of_mean(values)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "draw"),
    [
        ("spread", lambda random, size: random.beta(2, 2, size)),
        ("hard or easy", lambda random, size: random.beta(0.3, 0.3, size)),
        ("mostly easy", lambda random, size: random.beta(4, 0.5, size)),
    ],
)
def test_intervals_cover_the_truth_as_often_as_they_say(kind, draw):
    """50 tasks of 4 trials; pooled trials, for comparison, cover far less often."""
    random = np.random.default_rng(5)
    covered = dict.fromkeys((1, 2, 4), 0)
    pooled = 0
    runs = 300
    chances = draw(random, (runs, 50))
    truth = {k: float((draw(random, 400_000) ** k).mean()) for k in covered}
    for chance in chances:
        counts = random.binomial(TRIALS, chance)
        outcomes = {n: [1.0] * c + [0.0] * (TRIALS - c) for n, c in enumerate(counts)}
        for k in covered:
            found = interval_of_mean(list(pass_hat_k_by_task(outcomes, k).values()))
            covered[k] += found.holds(truth[k])
        share = counts.sum() / (50 * TRIALS)
        pooled += abs(share - truth[1]) <= 1.96 * math.sqrt(share * (1 - share) / (50 * TRIALS))
    assert all(0.925 <= count / runs <= 0.985 for count in covered.values()), covered
    assert pooled / runs <= 0.93


def test_a_sign_flip_test_of_few_tasks_counts_every_flip():
    """Of the 8 flips of (1, 1, 1), two are as extreme."""
    assert sign_flip_test([1.0, 1.0, 1.0, 0.0]) == (0.25, True)
    assert sign_flip_test([1.0, -1.0]) == (1.0, True)
    assert sign_flip_test([0.0]) == (1.0, True)


def test_a_sign_flip_test_of_many_tasks_comes_close_to_every_flip():
    values = [0.25, 0.5, -0.25, 0.75, 0.25, -0.5, 0.25, 0.5, 0.5, -0.25, 1.0, 0.25, 0.25]
    drawn, exact = sign_flip_test(values)
    assert not exact
    signs = itertools.product((1, -1), repeat=len(values))
    extreme = [abs(np.dot(s, values)) >= sum(values) - 1e-9 for s in signs]
    assert drawn == pytest.approx(sum(extreme) / len(extreme), abs=0.01)


def test_two_runs_are_compared_over_the_tasks_that_both_have():
    first = {"a": [True, True], "b": [False, False], "c": [True], "only": [True]}
    second = {"a": [True, False], "b": [True, True], "c": [], "other": [False]}
    found = compare(first, second)
    assert (found.tasks, found.first, found.second) == (2, 0.5, 0.75)
    assert found.difference == 0.25
    assert found.p_value == 1.0
    assert compare({"a": [True]}, {"b": [True]}) is None


def test_what_a_comparison_needs_follows_from_spread_and_noise():
    """By hand: 12 differences, half of them 1/2; spread 3/44; one trial adds 1/2 and 1/4."""
    first = passed(*[1] * 12, trials=2)
    second = passed(*[2, 1] * 6, trials=2)
    found = compare(first, second)
    z = 1.959964 + 0.841621
    assert found.difference == 0.25
    assert found.smallest_difference == pytest.approx(z * math.sqrt(3 / 44 / 12), abs=1e-6)
    assert found.tasks_needed == 10
    # The noise explains more than the whole spread, so trials alone would do.
    assert found.trials_needed == math.ceil(0.75 / (12 * (0.25 / z) ** 2))


def test_one_trial_is_enough_where_every_task_moves_all_the_way():
    found = compare(passed(*[0] * 12, trials=2), passed(*[2] * 12, trials=2))
    assert (found.difference, found.trials_needed) == (1.0, 1)


def test_trials_are_needed_for_the_noise_beside_the_spread_of_the_tasks_themselves():
    """By hand: ten tasks rise by 1/2 and two fall by 1/2; only the first run has noise, 1/3."""
    found = compare(passed(*[2] * 12), passed(*[4] * 10, 0, 0))
    spread = (10 * (1 / 6) ** 2 + 2 * (5 / 6) ** 2) / 11
    of_the_tasks = spread - (1 / 3) / 4
    room = 12 * ((1 / 3) / (1.959964 + 0.841621)) ** 2 - of_the_tasks
    assert found.trials_needed == math.ceil((1 / 3) / room) == 4


@pytest.mark.parametrize(
    ("tasks", "p_value", "exact"),
    [(EXACT_UP_TO, 2 / 2**EXACT_UP_TO, True), (40, 1 / (DRAWS + 1), False)],
)
def test_no_p_value_is_0_however_many_tasks_moved_alike(tasks, p_value, exact):
    assert sign_flip_test([0.5] * tasks) == (pytest.approx(p_value, rel=1e-9), exact)


def test_one_task_tells_nothing_of_the_spread_of_tasks():
    found = compare(passed(0), passed(4))
    assert (found.tasks, found.difference, found.p_value) == (1, 1.0, 1.0)
    assert (found.smallest_difference, found.trials_needed, found.tasks_needed) == (None,) * 3


def test_few_tasks_promise_nothing():
    """With five tasks that all moved alike, the smallest p-value that there is is 2/32."""
    found = compare(passed(0, 0, 0, 0, 0), passed(4, 4, 4, 4, 3))
    assert found.p_value == 0.0625
    assert (found.smallest_difference, found.trials_needed, found.tasks_needed) == (None, None, 10)


@pytest.mark.slow
def test_the_smallest_difference_is_found_about_as_often_as_is_said():
    random = np.random.default_rng(2)
    claimed = shown = 0
    for _ in range(100):
        chances = random.beta(2, 2, 30) * 0.7
        runs = [passed(*random.binomial(TRIALS, chances)) for _ in range(3)]
        gain = compare(runs[0], runs[1]).smallest_difference
        better = passed(*random.binomial(TRIALS, np.minimum(chances + gain, 1.0)))
        claimed += 1
        shown += compare(runs[2], better).is_significant
    assert 0.6 <= shown / claimed <= 0.9


def test_runs_that_are_alike_need_nothing():
    found = compare(passed(1, 2, 3), passed(1, 2, 3))
    assert (found.difference, found.p_value) == (0.0, 1.0)
    assert found.smallest_difference is None
    assert (found.trials_needed, found.tasks_needed) == (None, None)
    assert not found.is_significant


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "power"), [(50, (0.4, 0.65))])
def test_a_comparison_errs_as_often_as_it_says_and_sees_ten_points(tasks, power):
    """Tasks of 4 trials, whose chances lie anywhere; the better agent gains 10 points."""
    random = np.random.default_rng(11)
    runs = 400
    wrong = found = 0
    for _ in range(runs):
        chances = random.beta(2, 2, tasks) * 0.8
        one, two = (random.binomial(TRIALS, chances) for _ in range(2))
        better = random.binomial(TRIALS, chances + 0.1)
        wrong += compare(passed(*one), passed(*two)).is_significant
        found += compare(passed(*one), passed(*better)).is_significant
    assert 0.03 <= wrong / runs <= 0.07
    assert power[0] <= found / runs <= power[1]
