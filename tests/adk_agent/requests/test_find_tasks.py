"""Tasks are found by what they are about and by their attributes."""

from __future__ import annotations

import gc
import weakref

import pytest

from adk_agent.core.errors import RequestError
from adk_agent.requests.find_tasks import MAX_QUERY, TaskSearch
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import DataError
from tests.adk_agent.requests.library import LOANS, LibraryBenchmark, library

CATALOGUE = library()
SEARCH = TaskSearch(CATALOGUE)


def ids(query: str = "", **conditions: str) -> list[str]:
    return [task.ref.id for task in SEARCH.find("loans", query, where=conditions)]


def test_a_topic_finds_the_tasks_whose_texts_have_it() -> None:
    assert set(ids("baggage")) == {"bag", "fee"}
    assert ids("renewed loans") == ["renew", "bag"]
    assert ids("refunds") == ["fee"]


def test_the_policy_that_all_tasks_share_is_no_topic() -> None:
    assert ids("librarian") == []
    assert not SEARCH.is_topic("librarian", "loans")


@pytest.mark.requirement("select:topic")
def test_each_task_says_where_the_words_stand() -> None:
    (task,) = SEARCH.find("loans", "suitcase gone")
    assert (task.ref.domain, task.title) == ("loans", "Luggage in the cloakroom")
    assert task.reason == 'wish: "Your suitcase is gone."'
    plain = SEARCH.find("loans", "money")[0]
    assert plain.reason == 'text: "You want your money back for the giftcard."'


def test_what_a_person_does_not_want_is_found_and_shown() -> None:
    found = {task.ref.id: task.reason for task in SEARCH.find("loans", "bag")}
    assert found["fee"] == 'text: "You don\'t need a bag."'


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"mood": "angry"}, ["fine", "fee"]),
        ({"mood": "ANGRY or calm"}, ["renew", "fine", "fee", "bag", "card"]),
        ({"mood": "!= angry"}, ["renew", "bag", "card", "lost", "quiet"]),
        ({"changes": "0"}, ["fine", "card"]),
        ({"changes": ">=2"}, ["renew", "bag"]),
        ({"changes": "> 2"}, ["bag"]),
        ({"changes": "<1 or 12"}, ["fine", "bag", "card"]),
        ({"skills": "patience"}, ["fine"]),
        ({"person": "ada byron"}, ["renew"]),
        ({"mood": ">=angry"}, []),
        ({"changes": "many"}, []),
        ({"mood": "calm", "changes": "0"}, ["card"]),
    ],
)
def test_attributes_choose_tasks_in_their_order(
    conditions: dict[str, str], expected: list[str]
) -> None:
    assert ids(**conditions) == expected


def test_topic_and_attributes_are_both_in_the_reason() -> None:
    (task,) = SEARCH.find("loans", "bag", where={"mood": "calm"})
    assert task.reason == 'title: "Luggage in the cloakroom"; mood: calm'
    assert task.record() == {
        "domain": "loans",
        "id": "bag",
        "title": "Luggage in the cloakroom",
        "reason": task.reason,
        "attributes": {"changes": "12", "mood": "calm"},
    }


def test_an_unknown_attribute_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(RequestError, match="no attribute 'colour': they have changes, mood"):
        ids(colour="red")
    with pytest.raises(RequestError, match="rooms tasks have no attribute 'mood': they have none"):
        SEARCH.find("rooms", where={"mood": "calm"})


@pytest.mark.parametrize("query", ["the tasks", "about", "loans", "?!", "😀"])
def test_a_query_without_content_is_refused(query: str) -> None:
    with pytest.raises(RequestError, match="has no word"):
        ids(query)


@pytest.mark.parametrize("query", ["not books", "books without cards", "books but not cards"])
def test_what_tasks_are_not_about_is_refused(query: str) -> None:
    with pytest.raises(RequestError, match="names what tasks are not about"):
        ids(query)


def test_a_word_that_something_is_related_to_is_the_topic() -> None:
    assert ids("Baggage-related tasks") == ids("baggage")
    assert ids("no fine") == ids("fine")


def test_a_very_long_query_is_refused() -> None:
    with pytest.raises(RequestError, match=r"1,000,000 characters is too long"):
        ids("x" * 1_000_000)
    assert not SEARCH.is_topic("x" * 1_000_000, "loans")
    assert SEARCH.find("loans", "x" * MAX_QUERY) == []


def test_nothing_found_is_explained_by_what_there_is() -> None:
    told = SEARCH.absence("loans", "zebra")
    assert told.startswith("no loans task is about 'zebra': none of their texts says 'zebra'; ")
    assert "frequent topics are" not in told or "(" in told
    assert told.endswith("'greenroom list tasks --domain loans' lists all")
    assert "1 say 'cloakroom' and 1 say 'money', but none says all" in SEARCH.absence(
        "loans", "cloakroom money"
    )
    assert "there are such tasks in rooms" in SEARCH.absence("loans", "concert")
    told = SEARCH.absence("loans", "bag", where={"mood": "sad", "changes": ">20"})
    assert told.startswith("no loans task is about 'bag' and has mood: sad, changes: >20: ")
    assert "mood is angry, calm; changes is 0 to 12" in told


def test_frequent_topics_come_from_titles() -> None:
    benchmark = LibraryBenchmark()
    titles = ["Refund a book", "Refund a pen", "A pen and refunds", "Refund ink", "Ink", "Paper"]
    infos = [
        info.__class__(ref=info.ref, title=title)
        for info, title in zip(benchmark.tasks("loans"), titles, strict=False)
    ]
    benchmark.tasks = lambda domain, split="base": infos  # type: ignore[method-assign]
    topics = TaskSearch(Benchmarks([benchmark])).topics("loans")
    assert topics == ("refund (4)", "pen (2)", "ink (2)")


def test_several_domains_are_searched_one_after_the_other() -> None:
    found = SEARCH.find_in(("loans", "rooms"), "book or concert", limit=2)
    assert [task.ref.domain for task in found] == ["loans", "loans", "rooms"]
    only = SEARCH.find_in(("loans", "rooms"), where={"mood": "angry"})
    assert [task.ref.id for task in only] == ["fine", "fee"]
    assert len(SEARCH.find_in(("loans", "rooms"), "renew or fine", split="few")) == 2


def test_several_domains_without_a_match_are_named() -> None:
    with pytest.raises(RequestError, match="no task of any domain is about 'zebra': searched loan"):
        SEARCH.find_in(("loans", "rooms"), "zebra")
    with pytest.raises(RequestError, match="no loans task is about 'zebra'"):
        SEARCH.find_in(("loans",), "zebra")
    with pytest.raises(RequestError, match="no attribute 'colour'"):
        SEARCH.find_in(("loans", "rooms"), where={"colour": "red"})
    with pytest.raises(DataError, match="no split 'late'"):
        SEARCH.find_in(("loans", "rooms"), "book", split="late")


def test_the_reader_of_sentences_can_ask_for_topics() -> None:
    assert SEARCH.is_topic("gift cards", "loans")
    assert SEARCH.is_topic("renew", "loans", "few")
    assert not SEARCH.is_topic("luggage", "loans", "few")
    assert not SEARCH.is_topic("the tasks", "loans")
    assert SEARCH.content_words("the loans tasks about lost Books", "loans") == ("lost", "Books")
    assert [task.ref.id for task in SEARCH.matches("loans", "few", "fine")] == ["fine"]


def test_texts_of_data_files_come_escaped_and_on_one_line() -> None:
    benchmark = LibraryBenchmark()
    benchmark.tasks = lambda domain, split="base": [  # type: ignore[method-assign]
        LibraryBenchmark.tasks(benchmark, "rooms")[0].__class__(
            ref=benchmark.ref(domain, "1"),
            title="A \x1b[31mred\nroom " + "x" * 500,
            text="Ring\x07.",
        )
    ]
    (task,) = TaskSearch(Benchmarks([benchmark])).find("rooms", "ring or red")
    assert task.title.isprintable()
    assert len(task.title) < 200
    assert task.reason.isprintable()


def test_a_split_is_read_once_for_a_catalogue_and_given_up_with_it() -> None:
    opened = library()
    before = LibraryBenchmark.read
    for _ in range(3):
        TaskSearch(opened).find("loans", "fine")
    assert LibraryBenchmark.read == before + 1
    gone = weakref.ref(opened)
    del opened
    gc.collect()
    assert gone() is None


def test_the_same_query_finds_the_same_in_the_same_order() -> None:
    assert [TaskSearch(library()).find("loans", "book") for _ in range(2)] == [
        *[SEARCH.find("loans", "book")] * 2
    ]
    assert len(ids()) == len(LOANS)
