"""log_of: what the context of an evaluator knows of a trial, as the log that is attributed. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from evals.attribution.chats import turns_of_messages
from evals.attribution.turns import Log, Turn, turns_of_trace
from evals.base import EvaluationContext


def log_of(context: EvaluationContext) -> Log:
    """Return the log of a trial or of a recorded trace: of its messages where it has any."""
    if context.messages:
        turns = turns_of_messages(context.messages)
    else:
        turns = turns_of_trace(context.trace)
    return Log(
        turns=turns,
        answer=context.answer if context.answer is not None else _last_answer(turns),
        expected=_expected(context),
        departed_at=context.departed_at,
    )


def _last_answer(turns: Sequence[Turn]) -> str | None:
    return next((turn.text for turn in reversed(turns) if turn.kind == "answer"), None)


def _expected(context: EvaluationContext) -> str | None:
    """Return the right answer, or the only text that a right one would have held."""
    lacking = context.not_communicated
    if context.expected_answer is None and len(lacking) == 1:
        return lacking[0]
    return context.expected_answer
