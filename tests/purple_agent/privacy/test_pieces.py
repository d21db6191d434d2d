"""Words cut into the pieces that a vocabulary knows."""

import pytest

from purple_agent.privacy.pieces import Pieces

KNOWN = ["", "a", "b", "##b", "ab", "c"]


def test_a_word_is_cut_into_the_longest_pieces_that_are_known():
    pieces = Pieces(KNOWN)
    assert pieces.of("ab") == (4,)
    assert pieces.of("abb") == (4, 3)
    assert pieces.of("b") == (2,)


@pytest.mark.parametrize("word", ["x", "ax", "ba", "ab" * 1_000])
def test_a_word_with_an_unknown_part_and_one_that_is_too_long_are_unknown(word):
    assert Pieces(KNOWN).of(word) == (0,)
