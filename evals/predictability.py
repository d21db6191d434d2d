"""Predictability: how well an agent's stated confidence fits what came of its trials.

Brier score: mean of (confidence - outcome)^2, 0 to 1, less is better (Brier, 1950). Calibration
error: expected calibration error over ten bins of equal width, 0 to 1, less is better (Guo et al.,
"On Calibration of Modern Neural Networks", 2017). AUROC: the chance that a trial that passed had a
higher confidence than one that did not, ties half, 0 to 1, 0.5 by guessing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from evals.statistics import DIGITS, LEVEL, SEED, Interval

LEAST_STATED: Final = 20
"""Trials with a stated confidence below which nothing is measured."""
LEAST_TASKS: Final = 3
"""Tasks below which there is no interval."""
BINS: Final = 10
_DRAWS: Final = 2_000
_ENDS: Final = ((1.0, 0.0, 0.0, 1.0), (1.0, 0.0, 1.0, 0.0))
"""Confidence and outcome of four trials: two of an agent that knows, two of one that is always wrong.

They widen intervals as the two ends of `evals.statistics` do: so that three tasks that all came out
alike are not taken for certainty.
"""
_Array = NDArray[np.float64]
_Statistic = Callable[[_Array, _Array, _Array], _Array]


@dataclass(frozen=True, kw_only=True)
class Stated:
    """A trial that was scored, with the confidence that its agent stated, 0 to 1."""

    task: Hashable
    confidence: float
    passed: bool


class Measure(BaseModel):
    """A figure with its interval; None where it was not measured, with the reason."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float | None
    interval: Interval | None = None
    reason: str | None = None


class Predictability(BaseModel):
    """The fit of stated confidence and outcomes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    brier: Measure
    calibration_error: Measure
    auroc: Measure


def predictability(trials: Sequence[Stated], *, scored: int) -> Predictability:
    """Measure it over trials with a stated confidence.

    Intervals: Bayesian bootstrap over tasks, from three tasks on, with half a task of an agent that
    knows and half a task of one that is always wrong added. That of the calibration error
    leans upwards where trials are few, as the error itself does.

    Args:
        trials: The trials that have a score and a stated confidence.
        scored: The number of trials that have a score.
    """
    if len(trials) < LEAST_STATED:
        reason = (
            f"{len(trials)} of {scored} scored trials stated a confidence, and {LEAST_STATED} are "
            "needed"
        )
        missing = Measure(value=None, reason=reason)
        return Predictability(brier=missing, calibration_error=missing, auroc=missing)
    confidence = np.array([each.confidence for each in trials])
    passed = np.array([float(each.passed) for each in trials])
    weights = _weights_of_trials([each.task for each in trials])
    if 0 < passed.sum() < len(trials):
        auroc = _measured(_auroc, confidence, passed, weights)
    else:
        same = "passed" if passed[0] else "did not pass"
        reason = f"every trial that stated one {same}, so there is nothing to tell apart"
        auroc = Measure(value=None, reason=reason)
    return Predictability(
        brier=_measured(_brier, confidence, passed, weights),
        calibration_error=_measured(_calibration_error, confidence, passed, weights),
        auroc=auroc,
    )


def _weights_of_trials(tasks: Sequence[Hashable]) -> _Array | None:
    """Return draws x trials: a weight drawn for each task, for each of its trials; None for few.

    Behind them stand the weights of `_ENDS`, each pair of which is half a task.
    """
    numbers = {task: number for number, task in enumerate(dict.fromkeys(tasks))}
    if len(numbers) < LEAST_TASKS:
        return None
    shape = np.append(np.ones(len(numbers)), (0.5, 0.5))
    drawn = np.random.default_rng(SEED).standard_gamma(shape, (_DRAWS, len(shape)))
    share = len(tasks) / len(numbers) / 2
    ends = np.repeat(drawn[:, len(numbers) :], 2, axis=1) * share
    weights = np.hstack((drawn[:, [numbers[task] for task in tasks]], ends))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _measured(
    statistic: _Statistic, confidence: _Array, passed: _Array, weights: _Array | None
) -> Measure:
    even = np.full((1, len(passed)), 1 / len(passed))
    value = float(statistic(confidence, passed, even)[0])
    interval = None
    if weights is not None:
        ends, outcomes = _ENDS
        drawn = statistic(np.append(confidence, ends), np.append(passed, outcomes), weights)
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(drawn, (tail, 1 - tail))
        low, high = min(float(low), value), max(float(high), value)
        interval = Interval(low=round(low, DIGITS), high=round(high, DIGITS))
    return Measure(value=round(value, DIGITS), interval=interval)


def _brier(confidence: _Array, passed: _Array, weights: _Array) -> _Array:
    return np.asarray(weights @ (confidence - passed) ** 2)


def _calibration_error(confidence: _Array, passed: _Array, weights: _Array) -> _Array:
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = (weights * (confidence - passed)) @ (bins[:, None] == np.arange(BINS)).astype(float)
    return np.asarray(np.abs(gaps).sum(axis=1))


def _auroc(confidence: _Array, passed: _Array, weights: _Array) -> _Array:
    won, lost = confidence[passed == 1], confidence[passed == 0]
    ahead = (won[:, None] > lost) + 0.5 * (won[:, None] == lost)
    of_won, of_lost = weights[:, passed == 1], weights[:, passed == 0]
    found = ((of_won @ ahead) * of_lost).sum(axis=1)
    return np.asarray(found / (of_won.sum(axis=1) * of_lost.sum(axis=1)))
