"""What every benchmark has without writing it."""

import pytest

from tau_bridge.benchmark import Benchmark, TaskInfo
from tau_bridge.errors import DataError, UnknownDomainError, UnknownTaskError
from tau_bridge.sampling import TaskKind

SPLITS = {"base": ("b", "a"), "late": ("a", "c")}
KIND = TaskKind(asks_nothing=False, traits=("easy",))


class Riddles(Benchmark):
    """Two splits that share a task, one of which is of no known kind."""

    name = "riddles"

    def splits(self, domain):
        return tuple(SPLITS)

    def tasks(self, domain, split="base"):
        return [
            TaskInfo(ref=self.ref(domain, each), kind=None if each == "c" else KIND)
            for each in SPLITS[split]
        ]

    async def play(self, ref, agent, context):
        raise NotImplementedError

    async def score(self, ref, played, judge):
        raise NotImplementedError


def test_ids_of_all_splits_are_listed_once_in_their_order():
    assert Riddles().all_task_ids("riddles") == ("b", "a", "c")
    assert Riddles().task_ids("riddles", "late") == ("a", "c")


def test_a_split_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(DataError, match=r"tasks have no split 'x', only 'base', 'late'"):
        Riddles().task_ids("riddles", "x")


def test_a_task_is_found_in_any_split_and_an_unknown_one_is_refused():
    found = Riddles().task("riddles", "c")
    assert (found.ref.benchmark, found.ref.domain, found.ref.id) == ("riddles", "riddles", "c")
    with pytest.raises(UnknownTaskError, match="'d'"):
        Riddles().task("riddles", "d")


def test_kinds_are_known_only_where_every_task_has_one():
    assert Riddles().kinds("riddles", ["a", "b"]) == {"a": KIND, "b": KIND}
    assert Riddles().kinds("riddles", ["a", "c"]) is None


def test_the_one_domain_has_the_name_of_the_benchmark():
    assert Riddles().domain("riddles").name == "riddles"
    with pytest.raises(UnknownDomainError, match="riddle"):
        Riddles().domain("riddle")


def test_the_revision_changes_with_the_tasks(monkeypatch):
    before = Riddles().revision("riddles")
    assert (before.source, before) == ("riddles", Riddles().revision("riddles"))
    monkeypatch.setitem(SPLITS, "late", ("a", "c", "d"))
    assert Riddles().revision("riddles") != before


def test_options_that_a_benchmark_does_not_have_are_refused():
    assert Riddles().with_options({}).chosen_options() == {}
    with pytest.raises(DataError, match="option 'hard' of riddles"):
        Riddles().with_options({"hard": True})
