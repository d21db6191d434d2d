"""Numbers of a text, held against the facts that it is about."""

import pytest

from adk_agent.results.grounding import numbers_without_facts

FACTS = "Task 16 passed 2 of 3 trials: pass^1 0.667 in 1,204 ms (run 20261121-074500-1f2e3d)."


@pytest.mark.parametrize(
    "prose",
    [
        "Task 16 passed 2 of 3 trials.",
        "It passed 67 % of them, 66.7 % to be exact, or 0.67.",
        "1. Look at task 16.\n2. Look at the 3 trials.",
        "It took 1204 ms.",
        "Run 20261121-074500-1f2e3d.",
        "It passed most of them.",
    ],
)
def test_numbers_of_the_facts_may_be_written_rounded_and_in_percent(prose):
    assert numbers_without_facts(prose, FACTS) == []


@pytest.mark.parametrize(
    ("prose", "invented"),
    [
        ("It passed 4 of 5 trials.", ["4", "5"]),
        ("It passed 90 %.", ["90"]),
        ("pass^1 is 0.7 or 0.71", ["0.71"]),
        ("It failed 0 trials.", ["0"]),
    ],
)
def test_numbers_that_are_not_in_the_facts_are_found(prose, invented):
    assert numbers_without_facts(prose, FACTS) == invented


def test_a_literal_quotation_may_hold_other_numbers():
    said = "agent: Your refund of $250 is on its way."
    assert numbers_without_facts('It said "refund of $250".', FACTS, quotable=said) == []
    assert numbers_without_facts('It said "refund of $999".', FACTS, quotable=said) == ["999"]
    assert numbers_without_facts("It refunded $250.", FACTS, quotable=said) == ["250"]
