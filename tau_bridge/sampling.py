"""Samples of tasks that resemble all tasks of a domain.

The first tasks of a file are often alike, and a silent agent may pass more of them than of the
others. A sample is stratified instead: of each kind of task it holds the share that all tasks have.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class TaskKind:
    """The sort of task that a task is, as far as its own data tell.

    Args:
        asks_nothing: Its criteria ask for no change and no statement, so that an agent passes it
            that does nothing. Such tasks make up a domain's floor.
        traits: What tells its kind, from coarse to fine.
    """

    asks_nothing: bool
    traits: tuple[str, ...]


def stratified_sample(kinds: Mapping[str, TaskKind], size: int, *, seed: int) -> frozenset[str]:
    """Draw `size` tasks of which each kind has its proportional share.

    Tasks that ask for nothing have the share that is nearest to theirs (halves go down), but leave
    room for one other task where there is one: their number is at most their proportional share,
    rounded up. Inside both groups the number is divided by each trait in turn, and ties are
    settled by the seed. The sample depends on ids, kinds, size and seed alone, not on any order.

    Args:
        kinds: The kind of every task, by id.
        size: How many tasks to draw, from 0 to all of them.
        seed: Another seed draws other tasks of the same kinds.

    Raises:
        ValueError: `size` is out of range.
    """
    if not 0 <= size <= len(kinds):
        raise ValueError(f"size {size} is not 0 to {len(kinds)}, the number of tasks")
    silent = {task_id: each.traits for task_id, each in kinds.items() if each.asks_nothing}
    others = {task_id: each.traits for task_id, each in kinds.items() if not each.asks_nothing}
    of_silent = _of_silent(size, len(silent), len(others))
    return frozenset(
        _draw(silent, of_silent, seed=seed) | _draw(others, size - of_silent, seed=seed)
    )


def _of_silent(size: int, silent: int, others: int) -> int:
    """Return how many of `size` tasks are to ask for nothing."""
    if not size or not silent:
        return 0
    total = silent + others
    # size * silent / total, rounded with halves down: in whole numbers, so that it is exact.
    nearest = -((total - 2 * size * silent) // (2 * total))
    return min(nearest, size - 1) if others else nearest


def _draw(
    traits: Mapping[str, tuple[str, ...]], size: int, *, seed: int, depth: int = 0
) -> set[str]:
    """Draw `size` tasks that share their first `depth` traits."""
    if size == 0:
        return set()
    if all(len(each) <= depth for each in traits.values()):
        return set(_shuffle(traits, seed)[:size])
    groups: dict[str, dict[str, tuple[str, ...]]] = {}
    for task_id, each in traits.items():
        groups.setdefault(each[depth] if len(each) > depth else "", {})[task_id] = each
    shares = largest_remainder({trait: len(group) for trait, group in groups.items()}, size, seed)
    drawn: set[str] = set()
    for trait, group in groups.items():
        drawn |= _draw(group, shares[trait], seed=seed, depth=depth + 1)
    return drawn


def largest_remainder(counts: Mapping[str, int], size: int, seed: int) -> dict[str, int]:
    """Divide `size` among groups in proportion to their counts.

    Each group gets its share rounded down; what is left goes to the largest remainders, and among
    equal ones to those that the seed puts first. No group gets more than its count.

    Args:
        counts: How many there are, by group; not all of them 0.
        size: How many to divide, at most the sum of the counts.
        seed: Settles ties.
    """
    total = sum(counts.values())
    shares = {name: size * count // total for name, count in counts.items()}
    by_remainder = sorted(
        _shuffle(counts, seed), key=lambda name: size * counts[name] % total, reverse=True
    )
    for name in by_remainder[: size - sum(shares.values())]:
        shares[name] += 1
    return shares


def _shuffle(names: Collection[str], seed: int) -> list[str]:
    """Sort the names in an order that the seed alone decides, the same on every machine."""

    def rank(name: str) -> tuple[bytes, str]:
        # JSON may hold half a surrogate pair, which has no plain UTF-8.
        return hashlib.sha256(f"{seed}\0{name}".encode(errors="surrogatepass")).digest(), name

    return sorted(names, key=rank)
