"""Counting matches of patterns that agents write."""

import pytest

from tau_bridge.tau2 import grep
from tau_bridge.tau2.grep import count_matches, is_quick

TEXTS = ["Fee 1, fee 2 (monthly)", "No charge", "a{2"]


@pytest.mark.parametrize(
    ("pattern", "counts"),
    [
        ("fee", [2, 0, 0]),
        ("fee|charge", [2, 1, 0]),
        (r"fee \d", [2, 0, 0]),
        ("(fee|charge)", [2, 1, 0]),
        ("f.*y", [1, 0, 0]),
        (r"\(monthly", [1, 0, 0]),
        ("(monthly", [1, 0, 0]),  # no pattern, so the very text
        ("a{2", [0, 0, 1]),
    ],
)
def test_matches_are_counted_whatever_the_case_and_the_pattern(pattern, counts):
    assert count_matches(pattern, TEXTS) == counts


@pytest.mark.parametrize("pattern", ["(a+)+$", "a*a*a*b", r"\D*x", "(?s).*x", "x{1,9}", "a" * 2000])
def test_a_pattern_that_may_go_back_and_forth_is_counted_apart(pattern):
    assert not is_quick(pattern)


@pytest.mark.parametrize("pattern", ["credit.*card", "fee|charge|cost", r"\bAPR\b", "^#"])
def test_plain_patterns_are_counted_here(pattern):
    assert is_quick(pattern)


def test_a_pattern_that_takes_for_ever_is_given_up(monkeypatch):
    monkeypatch.setattr(grep, "TIMEOUT_S", 0.5)
    with pytest.raises(TimeoutError, match=r"longer than 0\.5 s; write a simpler one"):
        count_matches("(a+)+$", ["a" * 64 + "b"])
