"""The seeds of trials."""

import random

from tau_bridge.seeds import trial_seeds


def test_trial_seeds_are_those_that_the_official_engine_draws():
    state = random.getstate()
    random.seed(300)
    official = tuple(random.randint(0, 1000000) for _ in range(4))  # noqa: S311  (seeds)
    random.setstate(state)
    assert trial_seeds(300, 4) == official
    assert trial_seeds(300, 0) == ()
