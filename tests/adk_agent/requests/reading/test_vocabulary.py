"""Requests in the words of benchmarks that this project does not bring along."""

import re

import pytest

from adk_agent.requests.reader import Refusal, Vocabulary, read_request
from adk_agent.requests.reading.vocabulary import COMMON_SPLITS
from tau_bridge.benchmark import Benchmark, DomainInfo, TaskInfo
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import WordingError


class Hotels(Benchmark):
    """Two domains with names that are no plain words, and words of its own for one of them."""

    name = "hotels"
    lookalikes = frozenset({"booking"})

    def domains(self):
        return (DomainInfo(name="bookings"), DomainInfo(name="room-service"), DomainInfo(name="m2"))

    def tasks(self, domain, split="base"):
        return [TaskInfo(ref=self.ref(domain, "1"))]

    def splits(self, domain):
        return ("base", "winter") if domain == "bookings" else ("base",)

    def reworded(self, text):
        if re.search(r"\bstay 99\b", text):
            raise WordingError("bad-number", "there is no stay 99")
        return re.sub(r"\bstays\b", "bookings tasks", text)

    async def play(self, ref, agent, context):
        raise NotImplementedError

    async def score(self, ref, played, judge):
        raise NotImplementedError


HOTELS = Vocabulary.of(Benchmarks([Hotels()]))
AGENT = "Evaluate http://localhost:9010 on"


def selected(said, vocabulary=HOTELS):
    request = read_request(f"{AGENT} {said}", vocabulary=vocabulary)
    return [(each.domain, each.num_tasks, each.task_ids) for each in request.selections]


def refused(text, vocabulary=HOTELS):
    with pytest.raises(Refusal) as caught:
        read_request(text, vocabulary=vocabulary)
    return caught.value.code, str(caught.value)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("five bookings tasks", [("bookings", 5, None)]),
        ("two room-service tasks", [("room-service", 2, None)]),
        ("all m2 tasks and three bookings tasks", [("m2", None, None), ("bookings", 3, None)]),
        ("room-service task 7", [("room-service", None, ("7",))]),
        ("domain: room-service", [("room-service", None, None)]),
        ("five bookings tasks of the hotels benchmark", [("bookings", 5, None)]),
        ("five hotels bookings tasks", [("bookings", 5, None)]),
        ("four stays", [("bookings", 4, None)]),
        ("a bookings task", [("bookings", 1, None)]),
    ],
)
def test_domains_of_any_name_are_read(said, meant):
    assert selected(said) == meant


def test_the_words_of_bundled_benchmarks_mean_nothing_where_they_are_not_there():
    code, message = refused(f"{AGENT} five airline tasks")
    assert (code, "known: bookings, room-service, m2" in message) == ("unknown-domain", True)
    assert refused(f"{AGENT} all exercises")[0] == "no-domain"


def test_a_misspelled_domain_is_corrected_before_the_words_beside_it_are_read():
    request = read_request(f"{AGENT} five bookigns tasks", vocabulary=HOTELS)
    assert [(each.domain, each.num_tasks) for each in request.selections] == [("bookings", 5)]
    assert request.warnings == ("'bookigns' was read as the domain 'bookings'",)


def test_a_word_that_only_looks_like_a_domain_is_not_corrected():
    code, message = refused(f"{AGENT} five booking tasks")
    assert (code, "unknown domain 'booking'" in message) == ("unknown-domain", True)


def test_what_a_benchmark_cannot_understand_is_refused_with_its_code_and_words():
    assert refused(f"{AGENT} stay 99") == ("bad-number", "there is no stay 99")


def test_a_split_of_a_benchmark_may_be_named():
    request = read_request(f"{AGENT} two bookings tasks of the winter split", vocabulary=HOTELS)
    assert request.selections[0].split == "winter"
    code, message = refused(f"{AGENT} two bookings tasks, split: summer")
    assert (code, "winter" in message) == ("unknown-split", True)
    assert HOTELS.splits == (*COMMON_SPLITS, "winter")


def test_a_setting_before_a_colon_is_no_address_where_it_is_a_domain():
    assert selected("bookings:5000") == [("bookings", 5000, None)]


def test_examples_name_the_first_domain_where_no_benchmark_has_any():
    _, message = refused("Evaluate my agent on bookings")
    assert "Evaluate the agent at http://localhost:9010 on five bookings tasks" in message
    assert "'on five bookings tasks'" in refused("Evaluate http://localhost:9010")[1]


def test_the_example_of_the_bundled_benchmarks_is_the_first_of_the_first(vocabulary, benchmarks):
    assert vocabulary.example == benchmarks.all[0].examples[0]


def test_without_any_benchmark_every_request_is_refused():
    nothing = Vocabulary.of(Benchmarks([]))
    assert refused(f"{AGENT} five bookings tasks", nothing)[0] == "unknown-domain"
    assert refused("Evaluate http://localhost:9010", nothing)[0] == "no-domain"
