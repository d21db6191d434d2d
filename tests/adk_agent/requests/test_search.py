"""Texts are found by all words of a query, and ranked by BM25."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from adk_agent.requests.search import Document, Query, TextIndex


def index(*texts: str) -> TextIndex:
    return TextIndex([Document(title="", passages={"text": text}) for text in texts])


def found(texts: TextIndex, query: str) -> list[int]:
    return [hit.position for hit in texts.search(Query(query))]


def test_every_word_of_a_query_has_to_stand_in_a_text() -> None:
    texts = index("lost luggage", "lost keys", "two bags")
    assert found(texts, "lost bags") == [0]
    assert set(found(texts, "baggage")) == {0, 2}
    assert found(texts, "lost bags keys") == []


def test_alternatives_are_found_each_by_itself() -> None:
    texts = index("old shoes", "new boots", "hats")
    assert set(found(texts, "shoes or boots")) == {0, 1}
    assert set(found(texts, "shoes/hats")) == {0, 2}


def test_words_stand_in_one_passage_unless_they_nowhere_do() -> None:
    apart = {"first": "a red car", "second": "a big house"}
    texts = TextIndex(
        [
            Document(title="", passages=apart),
            Document(title="", passages={"first": "a red house", "second": "nothing"}),
        ]
    )
    assert found(texts, "red house") == [1]
    assert found(texts, "red big") == [0]


def test_a_compound_is_found_however_it_is_written() -> None:
    texts = index("a giftcard", "a gift card", "a gift-card", "a card as a gift")
    for query in ("giftcard", "gift-card"):
        assert set(found(texts, query)) == {0, 1, 2} | ({3} if "-" in query else set())
    assert set(found(texts, "gift card")) == {0, 1, 2, 3}


def test_a_sentence_that_nearly_all_texts_have_says_nothing_about_any() -> None:
    texts = index(*(f"Be kind to the dog. Number {number}." for number in range(9)), "A dog.")
    assert len(found(texts, "dog")) == 10  # nine of ten are not more than nine of ten
    many = index(*(f"Be kind to the dog. Number {number}." for number in range(20)), "A dog.")
    assert found(many, "dog") == [20]
    assert len(found(many, "number")) == 20


def test_few_texts_have_no_common_sentence() -> None:
    assert len(found(index("A dog.", "A dog."), "dog")) == 2


def test_a_rare_word_and_a_short_text_rank_higher() -> None:
    texts = index("bread " * 3 + "and many other words about cooking", "bread", "bread cheese")
    assert found(texts, "bread")[0] != 2
    assert found(texts, "cheese bread") == [2]


def test_the_score_is_that_of_bm25() -> None:
    texts = index("red red blue", "green", "blue")
    (hit,) = texts.search(Query("red"))
    rarity = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    damping = 1.2 * (1 - 0.75 + 0.75 * 3 / (5 / 3))
    assert math.isclose(hit.score, rarity * 2 * 2.2 / (2 + damping))


def test_a_reason_quotes_the_words_in_their_passage() -> None:
    long = "It is " + "very " * 30 + "likely that a suitcase is lost " + "somewhere " * 30
    texts = TextIndex(
        [Document(title="Two bags", passages={"wish": "A dog.\nA cat.", "story": long})]
    )
    (hit,) = texts.search(Query("cat"))
    assert texts.reason(hit) == 'wish: "A cat."'
    (hit,) = texts.search(Query("lost luggage"))
    reason = texts.reason(hit)
    assert reason.startswith('story: "… ')
    assert "suitcase" in reason
    assert len(reason) < 100
    (hit,) = texts.search(Query("bags cat"))
    assert texts.reason(hit) == 'title: "Two bags"; wish: "A cat."'


def test_ignored_words_and_fillers_are_no_content() -> None:
    query = Query("the airline tasks about lost Bags", ignored=["airlines"])
    assert query.words == ("lost", "Bags")
    assert Query("the tasks").alternatives == ()
    assert found(index("anything"), "the tasks") == []


@given(st.lists(st.text(max_size=40), max_size=6), st.text(max_size=40))
def test_what_is_found_always_has_a_reason(texts: list[str], query: str) -> None:
    searched = index(*texts)
    for hit in searched.search(Query(query)):
        assert searched.reason(hit)
        assert hit.score >= 0
