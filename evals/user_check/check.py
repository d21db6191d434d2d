"""check_user: whether the simulated user of one trial kept to its part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evals.diagnosis.behaviour import short
from evals.diagnosis.user import leaving_of
from evals.user_check.conditions import broken_orders
from evals.user_check.model import MOST_FAULTS, UserCheck, UserFault
from evals.user_check.reading import Heard
from evals.user_check.sequence import out_of_order
from evals.user_check.values import invented
from evals.user_check.words import agent_work, revealed


def check_user(
    heard: Heard, *, named: Sequence[UserFault] = (), problem: str | None = None
) -> UserCheck:
    """Return the faults of the user, the proven ones first, then by their place.

    Passed and other trials are checked alike, and the reward is not read: were only failures
    excused, every score would rise.

    Args:
        heard: The conversation, with the user's instructions.
        named: Faults that a language model named.
        problem: Why a model that was asked gave no answer.
    """
    found = [
        *left_early(heard),
        *invented(heard),
        *revealed(heard),
        *agent_work(heard),
        *broken_orders(heard),
        *out_of_order(heard),
        *named,
    ]
    found.sort(key=lambda each: (each.certainty != "proven", each.message))
    return UserCheck(faults=tuple(dict.fromkeys(found))[:MOST_FAULTS], problem=problem)


def left_early(heard: Heard) -> Iterator[UserFault]:
    """Yield that the user ended the conversation with a question open.

    Proven where it agreed to go on and left in one message, or left with its first words. Silence on
    a question, the token for what its instructions do not say, and leaving for a transfer that it
    agrees to may be right.
    """
    left = leaving_of(heard.behaviour)
    if left is not None:
        yield UserFault(
            kind="left_early",
            certainty="proven" if left.how in ("first_words", "agreed") else "possible",
            reason=left.text,
            quote=short(left.turn.read),
            message=left.turn.message,
        )
