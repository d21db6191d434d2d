"""Topics of the bundled benchmarks: what is found, and what is not."""

from __future__ import annotations

import pytest

from adk_agent.requests.find_tasks import TaskSearch
from tau_bridge.benchmarks import Benchmarks


@pytest.fixture(scope="module")
def search(benchmarks: Benchmarks) -> TaskSearch:
    return TaskSearch(benchmarks)


@pytest.mark.parametrize(
    ("domain", "query"),
    [
        ("airline", "crypto"),
        ("airline", "lost luggage"),
        ("airline", "MMS"),
        ("telecom", "eSIM"),
        ("retail", "coupon codes"),
        ("airline", "Peter Parker"),
    ],
)
def test_a_topic_that_no_task_has_finds_nothing(
    search: TaskSearch, domain: str, query: str
) -> None:
    assert search.find(domain, query) == []
    assert f"no {domain} task is about {query!r}" in search.absence(domain, query)


def test_a_person_is_found_by_name_and_by_attribute(search: TaskSearch) -> None:
    by_name = {task.ref.id for task in search.find("retail", "Yusuf Rossi")}
    assert by_name == {
        task.ref.id for task in search.find("retail", where={"person": "yusuf rossi"})
    }
    assert len(by_name) > 1


def test_the_same_words_in_every_tasks_instructions_are_no_topic(search: TaskSearch) -> None:
    mms = search.find("telecom", "MMS")
    assert {task.attributes["intent"] for task in mms} == {"mms_issue"}
    assert len(mms) == len(search.find("telecom", where={"intent": "mms_issue"}))


def test_what_doing_nothing_passes_asks_for_no_change(search: TaskSearch) -> None:
    for domain in ("airline", "retail", "mock"):
        passed = search.find(domain, where={"passed_by_doing_nothing": "yes"})
        assert passed
        assert {task.attributes["changes"] for task in passed} == {"0"}


def test_every_task_of_every_domain_has_a_title_and_attributes(
    search: TaskSearch, benchmarks: Benchmarks
) -> None:
    for domain in benchmarks.domains:
        found = search.find(domain)
        assert all(task.title and task.attributes for task in found)
        assert len(found) == len(benchmarks.of(domain).task_ids(domain))


def test_business_scenarios_and_exercises_are_found_too(search: TaskSearch) -> None:
    assert len(search.find("business", "offboarding")) >= 4
    assert search.find("business", where={"outcome": "block", "writes": "no"})
    found = search.find("coordination", "shipping")
    assert found
    assert all(task.reason for task in found)
