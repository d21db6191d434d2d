"""Tokens by rule of thumb."""

from purple_agent.tokens import rough_count


def test_a_rough_count_is_a_quarter_of_the_characters_rounded_up():
    assert [rough_count("x" * length) for length in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert rough_count("ab", "", "cde") == 2
    assert rough_count() == 0
