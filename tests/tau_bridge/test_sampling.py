"""Samples of tasks that resemble all tasks of a domain."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.sampling import TaskKind, largest_remainder, stratified_sample

SILENT = TaskKind(asks_nothing=True, traits=())
KINDS = st.builds(
    TaskKind,
    asks_nothing=st.booleans(),
    traits=st.lists(st.sampled_from("abc"), max_size=3).map(tuple),
)
DOMAINS = st.dictionaries(st.text(max_size=4), KINDS, min_size=1, max_size=40)
SIZES = st.data()
SEEDS = st.integers(0, 999_999_999)


def asking(*traits: str) -> TaskKind:
    return TaskKind(asks_nothing=False, traits=traits)


def domain(**counts: int) -> dict[str, TaskKind]:
    """A domain with so many tasks of each trait; those of `silent` ask for nothing."""
    return {
        f"{name}{number}": SILENT if name == "silent" else asking(name)
        for name, count in counts.items()
        for number in range(count)
    }


def counted(sample: frozenset[str]) -> dict[str, int]:
    return dict(Counter(task_id.rstrip("0123456789") for task_id in sample))


def test_a_sample_has_the_proportions_of_the_whole() -> None:
    tasks = domain(silent=20, cancel=15, book=10, change=5)
    assert counted(stratified_sample(tasks, 10, seed=1)) == {
        "silent": 4,
        "cancel": 3,
        "book": 2,
        "change": 1,
    }


@pytest.mark.parametrize(
    ("size", "silent"), [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2), (6, 2), (10, 4), (50, 19)]
)
def test_tasks_that_ask_for_nothing_have_the_share_nearest_to_theirs(
    size: int, silent: int
) -> None:
    # 19 of 50: 0.38 of 1, 0.76 of 2, 1.14 of 3, 1.52 of 4, 1.9 of 5, 2.28 of 6, 3.8 of 10.
    sample = stratified_sample(domain(silent=19, other=31), size, seed=300)
    assert counted(sample).get("silent", 0) == silent


def test_half_a_task_that_asks_for_nothing_goes_to_the_others() -> None:
    assert counted(stratified_sample(domain(silent=5, other=5), 3, seed=0)) == {
        "silent": 1,
        "other": 2,
    }


@pytest.mark.parametrize("size", [1, 2, 3])
def test_one_task_asks_for_something_however_many_do_not(size: int) -> None:
    tasks = domain(silent=99, other=1)
    assert "other0" in stratified_sample(tasks, size, seed=size)


def test_where_every_task_asks_for_nothing_a_sample_does_too() -> None:
    assert len(stratified_sample(domain(silent=4), 3, seed=0)) == 3


def test_the_number_is_divided_by_each_trait_in_turn() -> None:
    tasks = {f"x{n}": asking("x", "mno"[n % 3]) for n in range(6)}
    tasks |= {f"y{n}": asking("y", "p") for n in range(2)}
    sample = stratified_sample(tasks, 4, seed=5)
    assert counted(sample) == {"x": 3, "y": 1}
    assert {tasks[each].traits for each in sample} == {
        ("x", "m"),
        ("x", "n"),
        ("x", "o"),
        ("y", "p"),
    }


@pytest.mark.parametrize(
    ("counts", "size", "shares"),
    [
        ({"a": 20, "b": 16, "c": 13, "d": 5}, 5, {"a": 2, "b": 2, "c": 1, "d": 0}),
        ({"a": 7, "b": 2, "c": 1}, 4, {"a": 3, "b": 1, "c": 0}),
        ({"a": 3, "b": 3}, 6, {"a": 3, "b": 3}),
        ({"a": 3, "b": 0}, 2, {"a": 2, "b": 0}),
    ],
)
def test_the_largest_remainders_get_what_is_left(
    counts: dict[str, int], size: int, shares: dict[str, int]
) -> None:
    # 5 of 54: 1.85, 1.48, 1.20, 0.46; 4 of 10: 2.8, 0.8, 0.4.
    assert largest_remainder(counts, size, seed=9) == shares


@given(
    st.dictionaries(st.text(max_size=3), st.integers(0, 50), min_size=1).filter(
        lambda counts: any(counts.values())
    ),
    SEEDS,
    SIZES,
)
def test_every_share_is_the_proportional_one_rounded_up_or_down(
    counts: dict[str, int], seed: int, data: st.DataObject
) -> None:
    total = sum(counts.values())
    size = data.draw(st.integers(0, total))
    shares = largest_remainder(counts, size, seed)
    assert sum(shares.values()) == size
    for name, count in counts.items():
        assert size * count // total <= shares[name] <= -(-size * count // total) <= count


@given(DOMAINS, SEEDS, SIZES)
def test_a_sample_is_a_part_of_the_tasks_of_the_size_that_was_asked_for(
    tasks: dict[str, TaskKind], seed: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, len(tasks)))
    sample = stratified_sample(tasks, size, seed=seed)
    assert sample <= set(tasks)
    assert len(sample) == size
    assert stratified_sample(tasks, len(tasks), seed=seed) == set(tasks)


@given(DOMAINS, SEEDS, SIZES)
def test_a_silent_agent_passes_no_more_of_a_sample_than_its_share_rounded_up(
    tasks: dict[str, TaskKind], seed: int, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, len(tasks)))
    sample = stratified_sample(tasks, size, seed=seed)
    of_all = sum(kind.asks_nothing for kind in tasks.values())
    silent = sum(tasks[task_id].asks_nothing for task_id in sample)
    assert silent <= math.ceil(size * of_all / len(tasks))
    assert silent < size or of_all == len(tasks)
    if size > 1:
        assert abs(silent / size - of_all / len(tasks)) <= 1 / size


@given(DOMAINS, SEEDS, st.randoms(use_true_random=False), SIZES)
def test_a_sample_does_not_depend_on_the_order_of_the_tasks(
    tasks: dict[str, TaskKind], seed: int, shuffler: random.Random, data: st.DataObject
) -> None:
    size = data.draw(st.integers(0, len(tasks)))
    items = list(tasks.items())
    shuffler.shuffle(items)
    assert stratified_sample(dict(items), size, seed=seed) == stratified_sample(
        tasks, size, seed=seed
    )


def test_a_sample_is_the_same_in_every_process() -> None:
    script = (
        "from tau_bridge.sampling import TaskKind, stratified_sample\n"
        "kind = TaskKind(asks_nothing=False, traits=())\n"
        "print(sorted(stratified_sample(dict.fromkeys('abcdefgh', kind), 3, seed=300)))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    kind = TaskKind(asks_nothing=False, traits=())
    assert told == {f"{sorted(stratified_sample(dict.fromkeys('hgfedcba', kind), 3, seed=300))}\n"}


def test_another_seed_draws_other_tasks_of_the_same_kinds() -> None:
    tasks = domain(silent=20, cancel=20, book=10)
    samples = [stratified_sample(tasks, 5, seed=seed) for seed in range(20)]
    assert len(set(samples)) > 1
    assert {tuple(sorted(counted(sample).items())) for sample in samples} == {
        (("book", 1), ("cancel", 2), ("silent", 2))
    }


def test_an_id_may_hold_half_a_surrogate_pair() -> None:
    kind = TaskKind(asks_nothing=False, traits=())
    assert len(stratified_sample({"\ud800": kind, "a": kind}, 1, seed=0)) == 1


@pytest.mark.parametrize("size", [-1, 3])
def test_a_size_that_cannot_be_is_an_error(size: int) -> None:
    with pytest.raises(ValueError, match="0 to 2"):
        stratified_sample(domain(other=2), size, seed=0)
