"""Agreement of two sets of labels, against hand-computed values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.agreement import Agreement, agreement_of

COUNTS = Agreement(both=20, only_reference=5, only_measured=10, neither=15)
"""Of Cohen's kappa this is the textbook example: 0.4."""


def test_figures_are_those_computed_by_hand():
    assert COUNTS.cases == 50
    assert COUNTS.observed.value == 0.7
    assert COUNTS.kappa.value == pytest.approx(0.4)
    assert COUNTS.sensitivity.value == 0.8
    assert COUNTS.specificity.value == 0.6
    assert COUNTS.precision.value == pytest.approx(2 / 3, abs=1e-6)


def test_intervals_hold_their_values_and_are_the_same_each_time():
    for share in (COUNTS.kappa, COUNTS.sensitivity, COUNTS.specificity, COUNTS.precision):
        assert share.interval.low < share.value < share.interval.high
    assert COUNTS.kappa == COUNTS.model_copy().kappa
    assert 0.1 < COUNTS.kappa.interval.low < 0.2 < 0.6 < COUNTS.kappa.interval.high < 0.7


def test_pairs_are_counted_with_the_reference_first():
    pairs = [(True, True), (True, False), (True, False), (False, True), (False, False)]
    found = agreement_of(pairs)
    assert (found.both, found.only_reference, found.only_measured, found.neither) == (1, 2, 1, 1)


def test_without_cases_there_is_no_value():
    nothing = agreement_of([])
    for share in (nothing.kappa, nothing.sensitivity, nothing.specificity, nothing.observed):
        assert (share.value, share.interval) == (None, None)


def test_kappa_has_no_value_where_both_always_say_the_same():
    assert agreement_of([(True, True)] * 9).kappa.value is None
    assert agreement_of([(True, True)] * 9).sensitivity.value == 1.0


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_kappa_does_not_depend_on_who_is_the_reference(pairs):
    there = agreement_of(pairs).kappa
    back = agreement_of([(other, one) for one, other in pairs]).kappa
    assert there.value == pytest.approx(back.value)
