"""Stage 0, the privacy guard: refuses to disclose secrets and data about other people."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import anyio.to_thread

from purple_agent.case import Answer, BudgetLevel, Case, Complete, Dialect, Session
from purple_agent.privacy.guard import PrivacyVerdict, judge
from purple_agent.privacy.question import is_refused, question_about
from purple_agent.wire import read_opening

logger = logging.getLogger(__name__)

REFUSAL = (
    "I cannot help with that: I do not disclose passwords or other secrets, nor personal data of "
    "other people. You can ask me about your own data, have a password reset or changed, or ask "
    "what the policy says about access to data."
)
"""The answer to every refused request, the same for all so that it reveals nothing."""

LONG = 10_000
"""Longer texts are judged in a thread, so that they do not delay other conversations."""

ANSWER_WITHIN_S = 15.0
"""Timeout for the model; after that the rules decide."""
BY_MODEL = "model"
"""Flag: the model refused the request, not a rule."""
RULES_ALONE = "privacy:rules_alone"
"""Flag: the model did not answer, so only rules decided."""


class PrivacyStage:
    """Refuses a business request for secrets or others' data; on the τ² wire it only leaves flags.

    Rules decide first. If they find nothing in a business request, a model is asked once; it cannot
    overrule a refusal. Only the user's words are judged, not policies, tools or results.

    Args:
        complete: Calls a language model; None for rules only.
        level: Returns a session's budget level.
    """

    def __init__(
        self,
        complete: Complete | None = None,
        *,
        level: Callable[[Session], BudgetLevel] = lambda _: BudgetLevel.FULL,
    ) -> None:
        self._complete = complete
        self._level = level

    async def __call__(self, case: Case) -> Case | Answer:
        """Flag a request, for example `privacy:secret`; refuse it in business conversations."""
        text = users_words(case.incoming.text, case.session)
        verdict = await _judged(text)
        flags = tuple(f"privacy:{flag}" for flag in verdict.flags)
        if case.session.dialect is not Dialect.BUSINESS:
            return case.flagged(*flags)
        if verdict.refused:
            return _refusal(case, verdict.flags)
        if self._complete is None or not text.strip():
            return case.flagged(*flags)
        try:
            refused = await self._asked(self._complete, text, case.session)
        except Exception as error:  # noqa: BLE001 - whatever a model's client raises
            logger.warning("privacy was judged by rules only: %s: %s", type(error).__name__, error)
            return case.flagged(*flags, RULES_ALONE)
        return _refusal(case, (*verdict.flags, BY_MODEL)) if refused else case.flagged(*flags)

    async def _asked(self, complete: Complete, text: str, session: Session) -> bool:
        if self._level(session) is BudgetLevel.NONE:
            raise ValueError("the session has no tokens left for models")
        async with asyncio.timeout(ANSWER_WITHIN_S):
            answer, tokens = await complete(question_about(text))
        session.spent_tokens += tokens
        return is_refused(answer)


def users_words(text: str, session: Session) -> str:
    """Return the user's words in a message, without policy, tools and results on the τ² wire.

    There, the message after a call is its result.
    """
    if session.dialect is Dialect.BUSINESS:
        return text
    if session.pending_call is not None:
        return ""
    first = read_opening(text)
    return first.user_text if first else text


async def _judged(text: str) -> PrivacyVerdict:
    return judge(text) if len(text) <= LONG else await anyio.to_thread.run_sync(judge, text)


def _refusal(case: Case, found: tuple[str, ...]) -> Answer:
    flags = [*case.flags, *(f"privacy:{flag}" for flag in found)]
    return Answer(text=REFUSAL, kind="refused", metadata={"privacy": list(found), "flags": flags})
