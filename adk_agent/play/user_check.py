"""The check of a trial's simulated user, and the seeds with which it is played again."""

from __future__ import annotations

import asyncio
import logging

from adk_agent.core.errors import ModelError
from adk_agent.play.judging import RecordedJudge
from evals.user_check import (
    Heard,
    UserAnswerError,
    UserCheck,
    UserFault,
    ask_about_user,
    check_user,
    heard_in,
)
from tau_bridge.benchmark import MODEL_USER, Benchmark, Played, TaskRef
from tau_bridge.seeds import trial_seeds

logger = logging.getLogger(__name__)


async def checked_user(
    played: Played, benchmark: Benchmark, ref: TaskRef, judge: RecordedJudge | None, *, label: str
) -> UserCheck | None:
    """Return the faults of a trial's user; None where no model played it, or it had no instructions.

    Nothing that breaks in here reaches the trial.

    Args:
        played: The conversation.
        benchmark: Knows the user's instructions.
        ref: The task.
        judge: Names possible faults as well; None without one.
        label: The trial in words, for the log.
    """
    if not played.user.startswith(MODEL_USER):
        return None
    try:
        sheet = benchmark.user_sheet(ref)
        if sheet is None:
            return None
        heard = heard_in(played.messages, sheet.instructions, began=sheet.began)
        named, problem = ((), None) if judge is None else await _named(heard, judge)
        # In a thread: a long conversation takes a while to go through.
        return await asyncio.to_thread(check_user, heard, named=named, problem=problem)
    except Exception:
        logger.exception("the user of %s could not be checked", label)
        return None


async def _named(heard: Heard, judge: RecordedJudge) -> tuple[tuple[UserFault, ...], str | None]:
    """Return the faults that the judge names, or why there is no answer."""
    try:
        return await ask_about_user(heard, judge.ask, produced_by=judge.produced_by), None
    except (ModelError, UserAnswerError) as error:
        logger.warning("the judge did not check the simulated user: %s", error)
        return (), str(error)


def user_seed(seed: int, play: int) -> int:
    """Return the seed of the user's model in a play of a trial: the trial's own in the first, 0."""
    return seed if play == 0 else trial_seeds(seed, play)[-1]
