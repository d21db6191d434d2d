"""The check of a trial's simulated user, and the seeds with which it is played again."""

from __future__ import annotations

import logging

from evals.user_check import UserCheck, check_user, heard_in
from tau_bridge.benchmark import MODEL_USER, Benchmark, Played, TaskRef
from tau_bridge.seeds import trial_seeds

logger = logging.getLogger(__name__)


def checked_user(
    played: Played, benchmark: Benchmark, ref: TaskRef, *, label: str
) -> UserCheck | None:
    """Return the faults of a trial's user; None where no model played it, or it had no instructions.

    Nothing that breaks in here reaches the trial.

    Args:
        played: The conversation.
        benchmark: Knows the user's instructions.
        ref: The task.
        label: The trial in words, for the log.
    """
    if not played.user.startswith(MODEL_USER):
        return None
    try:
        sheet = benchmark.user_sheet(ref)
        if sheet is None:
            return None
        return check_user(heard_in(played.messages, sheet.instructions, began=sheet.began))
    except Exception:
        logger.exception("the user of %s could not be checked", label)
        return None


def user_seed(seed: int, play: int) -> int:
    """Return the seed of the user's model in a play of a trial: the trial's own in the first, 0."""
    return seed if play == 0 else trial_seeds(seed, play)[-1]
