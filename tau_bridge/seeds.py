"""The seeds of a run's trials."""

from __future__ import annotations

import random


def trial_seeds(seed: int, trials: int) -> tuple[int, ...]:
    """Draw the seeds of a run's trials from the run's seed, as the official engine does."""
    draw = random.Random(seed)  # noqa: S311  (the official seeds, not a secret)
    return tuple(draw.randint(0, 1_000_000) for _ in range(trials))
