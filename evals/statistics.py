"""Statistics: confidence in a score, and in the difference of two.

The unit is the task: trials of one task resemble each other, so an interval over pooled trials is
too narrow. Everything here is deterministic: the same values give the same figures.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

LEVEL = 0.95
DRAWS = 10_000
"""Number of times that tasks are reweighted, or the signs of their differences drawn."""
INTERVAL_METHOD = (
    "Bayesian bootstrap over tasks, with half a task added at either end of the scale "
    f"({DRAWS:,} draws)"
)
LEAST_TASKS = 10
"""Below this many tasks nothing is said of what it takes to find a difference: the normal
approximation does not hold, and with five the test cannot find any."""
EXACT_UP_TO = 12
"""Tasks that differ, up to which all signs are gone through instead of drawn."""
SEED = 20_240_517
"""Seed of every draw, so that the same values give the same figures."""
DIGITS = 6
"""Digits to which figures are rounded."""
_CELLS = 2_000_000
_KEPT_SIZE = 128
"""Weights for up to this many values are kept: 10 MB each."""
_Z_LEVEL = 1.959964
_Z_POWER = 0.841621
"""Standard normal quantiles for a two-sided test at 5 % and a power of 80 %."""

Task = TypeVar("Task", bound=Hashable)
_Draw = Callable[[int, int], Iterator[NDArray[np.float64]]]


class Interval(BaseModel):
    """An interval for a figure; `level` is the share of such intervals that hold it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: float
    high: float
    level: float = LEVEL

    @property
    def width(self) -> float:
        """Return the distance from end to end."""
        return self.high - self.low

    def reaching(self, other: Interval) -> Interval:
        """Return the interval from this one's lower end to another's upper end."""
        return Interval(low=self.low, high=other.high, level=self.level)

    def holds(self, value: float) -> bool:
        """Check whether a value lies within, the ends included."""
        return self.low <= value <= self.high


def interval_of_mean(
    values: Sequence[float], *, lowest: float = 0.0, highest: float = 1.0
) -> Interval | None:
    """Return the interval of the mean over tasks; None where there is no task.

    Bayesian bootstrap (Rubin, "The Bayesian Bootstrap", 1981) over the tasks' own values. Half a
    task at either end of the scale is added, as Jeffreys' prior does for a share (Brown, Cai and
    DasGupta, "Interval Estimation for a Binomial Proportion", 2001): so that three tasks that all
    passed are not taken for certainty. The interval always holds the mean itself.

    Args:
        values: One value a task, for example its pass^k.
        lowest: The lowest value that a task can have.
        highest: The highest one.
    """
    return intervals_of_means([values], lowest=lowest, highest=highest)[0]


def intervals_of_means(
    columns: Sequence[Sequence[float]], *, lowest: float = 0.0, highest: float = 1.0
) -> list[Interval | None]:
    """Return `interval_of_mean` of each column; equally long ones share the costly draws."""
    by_size: dict[int, list[int]] = defaultdict(list)
    for place, column in enumerate(columns):
        by_size[len(column)].append(place)
    found: list[Interval | None] = [None] * len(columns)
    for size, places in by_size.items():
        if size:
            values = np.array([columns[place] for place in places], dtype=float)
            for place, interval in zip(places, _intervals(values, lowest, highest), strict=True):
                found[place] = interval
    return found


def _intervals(values: NDArray[np.float64], lowest: float, highest: float) -> Iterator[Interval]:
    """Yield the interval of each row of `values`, rows x tasks."""
    ends = np.broadcast_to((lowest, highest), (len(values), 2))
    drawn = _drawn_means(np.hstack((values, ends)))
    tail = (1 - LEVEL) / 2
    for means, mean in zip(drawn, values.mean(axis=1), strict=True):
        low, high = np.quantile(means, (tail, 1 - tail))
        yield Interval(
            low=round(float(max(lowest, min(low, mean))), DIGITS),
            high=round(float(min(highest, max(high, mean))), DIGITS),
        )


def _drawn_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw weighted means, rows x draws, with Dirichlet weights: 1 a task, 1/2 each added end."""
    return np.hstack([values @ weights.T for weights in _blocks(_weights, values.shape[1])])


def _blocks(draw: _Draw, size: int) -> Iterable[NDArray[np.float64]]:
    """Return all draws for a number of values; in one block, which is kept, if they are few."""
    return [_kept(draw, size)] if size <= _KEPT_SIZE else draw(size, _CELLS // size + 1)


@lru_cache(maxsize=16)
def _kept(draw: _Draw, size: int) -> NDArray[np.float64]:
    """Keep draws, since a report needs the same ones for each domain, agent and k."""
    return np.concatenate(list(draw(size, DRAWS)))


def _weights(size: int, rows: int) -> Iterator[NDArray[np.float64]]:
    """Yield all draws, at most `rows` of them at a time."""
    random = np.random.default_rng(SEED)
    shape = np.append(np.ones(size - 2), (0.5, 0.5))
    for start in range(0, DRAWS, rows):
        weights = random.standard_gamma(shape, (min(rows, DRAWS - start), size))
        yield weights / weights.sum(axis=1, keepdims=True)


class Comparison(BaseModel):
    """The difference between two runs, paired by task.

    `difference` is the mean over tasks of second minus first pass^1, from -1 to 1.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tasks: int
    first: float
    second: float
    difference: float
    interval: Interval
    p_value: float
    """The p-value of the two-sided sign-flip permutation test over tasks."""
    exact: bool
    """True where all sign flips were tried; otherwise `DRAWS` of them were drawn."""
    smallest_difference: float | None
    """The difference that this many tasks and trials would find in 80 % of cases; None below `LEAST_TASKS`,
    and where they would find none."""
    trials_needed: int | None
    """Trials of each task that would find `difference` in 80 % of cases; None where no number of
    trials does, because the tasks differ too much or are too few, or there is no difference."""
    tasks_needed: int | None
    """Tasks, with as many trials as now, that would, `LEAST_TASKS` at least; None where there is
    no difference, or every task moved by the same amount."""

    @property
    def is_significant(self) -> bool:
        """Check whether the test finds a difference at 5 %."""
        return self.p_value <= 1 - LEVEL


def compare(
    first: Mapping[Task, Sequence[float]], second: Mapping[Task, Sequence[float]]
) -> Comparison | None:
    """Compare the tasks that both have trials of; None where there is none.

    Args:
        first: For each task, whether each of its scored trials passed, or another value of 0 to 1.
        second: The same of the other run.
    """
    tasks = [task for task, trials in first.items() if trials and second.get(task)]
    if not tasks:
        return None
    before, after = (
        np.array([np.mean(run[task]) for task in tasks], dtype=float) for run in (first, second)
    )
    differences = after - before
    mean = float(differences.mean())
    interval = _mirrored(differences.tolist())
    p_value, exact = sign_flip_test(differences.tolist())
    pairs = [(first[task], second[task]) for task in tasks]
    spread = float(differences.var(ddof=1)) if len(tasks) > 1 else None
    return Comparison(
        tasks=len(tasks),
        first=round(float(before.mean()), DIGITS),
        second=round(float(after.mean()), DIGITS),
        difference=round(mean, DIGITS),
        interval=interval,
        p_value=round(p_value, DIGITS),
        exact=exact,
        smallest_difference=_smallest_difference(spread, len(tasks)),
        trials_needed=_trials_needed(mean, spread, _noise(pairs), pairs),
        tasks_needed=_tasks_needed(mean, spread),
    )


def _mirrored(differences: Sequence[float]) -> Interval:
    """Return the interval of a mean difference, symmetric although its draws are not."""
    there, back = intervals_of_means(
        [differences, [-each for each in differences]], lowest=-1.0, highest=1.0
    )
    assert there is not None  # noqa: S101 - there are tasks
    assert back is not None  # noqa: S101
    return Interval(
        low=round((there.low - back.high) / 2, DIGITS),
        high=round((there.high - back.low) / 2, DIGITS),
    )


def sign_flip_test(differences: Sequence[float]) -> tuple[float, bool]:
    """Return the two-sided p-value of a mean of paired differences, and whether it is exact.

    Under the hypothesis that both runs are alike, each difference is as likely to have the other
    sign (Fisher, "The Design of Experiments", 1935). Tasks without a difference do not count. Up
    to `EXACT_UP_TO` others all flips are gone through; beyond that `DRAWS` are drawn and the
    observed one counts as one of them (Phipson and Smyth, 2010), so that no p-value is 0.
    """
    moved = np.array([each for each in differences if each], dtype=float)
    if moved.size == 0:
        return 1.0, True
    exact = moved.size <= EXACT_UP_TO
    # With all of the tasks, so that the same signs serve however many of them differ.
    sums = _all_signs(moved.size) @ moved if exact else _drawn_sums(np.array(differences))
    # Sums that are equal in truth must not differ by their rounding.
    extreme = int(np.sum(np.abs(sums) >= abs(moved.sum()) - 1e-9))
    if exact:
        return extreme / len(sums), True
    return (extreme + 1) / (len(sums) + 1), False


def _all_signs(count: int) -> NDArray[np.float64]:
    numbers = np.arange(2**count)[:, None]
    return np.where(numbers >> np.arange(count) & 1, 1.0, -1.0)


def _drawn_sums(moved: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([signs @ moved for signs in _blocks(_signs, moved.size)])


def _signs(count: int, rows: int) -> Iterator[NDArray[np.float64]]:
    """Yield all draws, at most `rows` of them at a time."""
    random = np.random.default_rng(SEED)
    for start in range(0, DRAWS, rows):
        heads = random.integers(0, 2, (min(rows, DRAWS - start), count), dtype=np.int8)
        yield np.where(heads, 1.0, -1.0)


def _noise(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float | None:
    """Return the variance that one more trial on either side adds to a task's difference.

    None where no task has two trials on a side to tell it from.
    """
    sides = [
        [np.var(trials, ddof=1) for trials in side if len(trials) > 1]
        for side in zip(*pairs, strict=True)
    ]
    known = [float(np.mean(side)) for side in sides if side]
    return 2 * sum(known) / len(known) if known else None


def _smallest_difference(spread: float | None, tasks: int) -> float | None:
    if not spread or tasks < LEAST_TASKS:
        return None
    found = (_Z_LEVEL + _Z_POWER) * math.sqrt(spread / tasks)
    return round(found, DIGITS) if found <= 1 else None


def _tasks_needed(difference: float, spread: float | None) -> int | None:
    if not spread or not difference:
        return None
    return max(LEAST_TASKS, math.ceil(spread * ((_Z_LEVEL + _Z_POWER) / difference) ** 2))


def _trials_needed(
    difference: float,
    spread: float | None,
    noise: float | None,
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]],
) -> int | None:
    """Solve spread = spread of the tasks themselves + noise / trials for the trials."""
    if spread is None or noise is None or not difference or len(pairs) < LEAST_TASKS:
        return None
    now = float(np.mean([(1 / len(first) + 1 / len(second)) / 2 for first, second in pairs]))
    of_the_tasks = max(0.0, spread - noise * now)
    room = len(pairs) * (difference / (_Z_LEVEL + _Z_POWER)) ** 2 - of_the_tasks
    return max(1, math.ceil(noise / room)) if room > 0 else None
