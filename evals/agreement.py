"""Agreement: how far two sets of yes-or-no labels agree, with intervals."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from evals.statistics import DIGITS, DRAWS, LEVEL, SEED, Interval, interval_of_mean


class Share(BaseModel):
    """A share of some cases, with its interval; no value where there is no case."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float | None
    cases: int
    interval: Interval | None


class Agreement(BaseModel):
    """Labels of the same cases by a reference, such as a person, and by what is measured.

    Attributes:
        both: Both say yes.
        only_reference: The reference says yes alone.
        only_measured: What is measured says yes alone.
        neither: Both say no.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    both: int
    only_reference: int
    only_measured: int
    neither: int

    @property
    def cases(self) -> int:
        """Return how many cases were labelled."""
        return self.both + self.only_reference + self.only_measured + self.neither

    @property
    def observed(self) -> Share:
        """Return the share of cases in which the two agree."""
        return _share(self.both + self.neither, self.cases)

    @property
    def sensitivity(self) -> Share:
        """Return the share of the reference's yes that is found; also called recall."""
        return _share(self.both, self.both + self.only_reference)

    @property
    def specificity(self) -> Share:
        """Return the share of the reference's no that is left alone."""
        return _share(self.neither, self.neither + self.only_measured)

    @property
    def precision(self) -> Share:
        """Return the share of what was found that the reference confirms."""
        return _share(self.both, self.both + self.only_measured)

    @property
    def kappa(self) -> Share:
        """Return Cohen's kappa, -1 to 1; no value where both always say the same one thing.

        Its interval is that of draws from the posterior of the four cells, with half a case in each
        (Jeffreys' prior), as the project's intervals of shares add half a case at either end.
        """
        cells = (self.both, self.only_reference, self.only_measured, self.neither)
        value = float(_kappas(np.array([cells], dtype=float))[0])
        if not np.isfinite(value):
            return Share(value=None, cases=self.cases, interval=None)
        random = np.random.default_rng(SEED)
        drawn = _kappas(random.dirichlet([each + 0.5 for each in cells], DRAWS))
        tail = (1 - LEVEL) / 2
        low, high = (float(each) for each in np.quantile(drawn, (tail, 1 - tail)))
        return Share(
            value=round(value, DIGITS),
            cases=self.cases,
            interval=Interval(
                low=round(min(low, value), DIGITS), high=round(max(high, value), DIGITS)
            ),
        )


def agreement_of(pairs: Iterable[tuple[bool, bool]]) -> Agreement:
    """Count pairs of the reference's label and the measured one."""
    counts = {(True, True): 0, (True, False): 0, (False, True): 0, (False, False): 0}
    for reference, measured in pairs:
        counts[reference, measured] += 1
    return Agreement(
        both=counts[True, True],
        only_reference=counts[True, False],
        only_measured=counts[False, True],
        neither=counts[False, False],
    )


def _share(part: int, whole: int) -> Share:
    if not whole:
        return Share(value=None, cases=0, interval=None)
    values = [1.0] * part + [0.0] * (whole - part)
    return Share(value=round(part / whole, DIGITS), cases=whole, interval=interval_of_mean(values))


def _kappas(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return kappa of each row of four cells; not a number where it has none."""
    with np.errstate(invalid="ignore"):  # 0 / 0
        both, reference, measured, neither = rows.T / rows.sum(axis=1)
        expected = (both + reference) * (both + measured)
        expected += (neither + reference) * (neither + measured)
        kappas: NDArray[np.float64] = (both + neither - expected) / (1 - expected)
    return kappas
