"""The interval of a running evaluation: near that of the report, at a price that stays the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evals.quick_interval import quick_interval
from evals.statistics import interval_of_mean


def test_no_task_has_no_interval():
    assert quick_interval([]) is None


def test_an_interval_of_tasks_that_pass_or_fail_is_that_of_a_share():
    found = quick_interval([1.0] * 7 + [0.0] * 13)
    low, high = stats.beta.ppf([0.025, 0.975], 7.5, 13.5)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)


@pytest.mark.parametrize(("tasks", "most"), [(10, 0.02), (50, 0.01)])
def test_it_lies_near_the_interval_of_the_report(tasks, most):
    random = np.random.default_rng(3)
    for a, b in ((2, 2), (0.3, 0.3), (4, 0.5), (0.5, 9)):
        shares = (random.binomial(4, random.beta(a, b, tasks)) / 4).tolist()
        quick, exact = quick_interval(shares), interval_of_mean(shares)
        assert (quick.low, quick.high) == pytest.approx((exact.low, exact.high), abs=most)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_it_holds_the_mean_and_does_not_depend_on_the_order(shares):
    found = quick_interval(shares)
    mean = sum(shares) / len(shares)
    assert 0 <= found.low <= mean + 1e-6
    assert mean - 1e-6 <= found.high <= 1
    assert found == quick_interval(shares[::-1])
