"""BM25 by hand."""

import math

from tau_bridge.tau2.bm25 import Bm25

TEXTS = ["fee fee card", "card loan", "loan loan loan rate", "branch"]


def test_scores_are_okapis_with_the_words_of_the_query():
    # Four texts of 3, 2, 4 and 1 words: 2.5 on average. `fee` stands in one of them, twice.
    weight = math.log(4 - 1 + 0.5) - math.log(1 + 0.5)
    expected = weight * (2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 3 / 2.5)))
    assert Bm25(TEXTS).top("FEE", 1) == [(0, expected)]


def test_a_word_counts_as_often_as_the_query_says_it():
    index = Bm25(TEXTS)
    [(_, once)], [(_, twice)] = index.top("rate", 1), index.top("rate rate", 1)
    assert twice == 2 * once


def test_a_word_of_most_texts_counts_a_quarter_of_the_mean_weight():
    index = Bm25(["the cat", "the dog", "the end"])
    rare = math.log(2.5) - math.log(1.5)
    common = math.log(0.5) - math.log(3.5)
    floor = 0.25 * (common + 3 * rare) / 4
    [(_, score)] = index.top("the", 1)
    assert math.isclose(score, floor * 2.5 / (1 + 1.5))


def test_texts_without_any_word_fill_up_in_their_order():
    assert [place for place, _ in Bm25(TEXTS).top("branch", 3)] == [3, 0, 1]
    assert Bm25(TEXTS).top("nothing", 2) == [(0, 0.0), (1, 0.0)]


def test_words_are_split_at_white_space_alone():
    assert Bm25(["card.", "card", "loan"]).top("card", 1)[0][0] == 1
