"""Stage 0, the privacy guard: refuses to disclose secrets and what is known about other people."""

from __future__ import annotations

import dataclasses
from functools import partial

import anyio.to_thread

from purple_agent.case import Answer, Case, Dialect, Session
from purple_agent.privacy.guard import PrivacyVerdict, judge
from purple_agent.wire import parse_first_message

REFUSAL = (
    "I cannot help with that: I do not disclose passwords or other secrets, nor personal data of "
    "other people. You can ask me about your own data, have a password reset or changed, or ask "
    "what the policy says about access to data."
)
"""Said to everything that is refused, so that it tells nothing about what there is."""

LONG = 10_000
"""Texts of more characters are judged in a thread, since that would hold up other conversations."""


class PrivacyStage:
    """Refuses a business request that the guard refuses; on the τ² wire it only leaves flags.

    Looks at nothing but the user's words, neither at policies nor at tools nor at their results.
    """

    async def __call__(self, case: Case) -> Case | Answer:
        """The case, with flags such as `privacy:secret`; in business conversations a refusal."""
        dialect = case.session.dialect
        verdict = await _judged(
            users_words(case.incoming.text, case.session), thorough=dialect is Dialect.BUSINESS
        )
        flags = tuple(f"privacy:{flag}" for flag in verdict.flags)
        if verdict.refused and dialect is Dialect.BUSINESS:
            metadata = {"privacy": list(verdict.flags), "flags": [*case.flags, *flags]}
            return Answer(text=REFUSAL, kind="refused", metadata=metadata)
        return dataclasses.replace(case, flags=(*case.flags, *flags)) if flags else case


def users_words(text: str, session: Session) -> str:
    """What the user says in a message: on the τ² wire neither policy and tools nor tool results.

    There, the message that follows a call is its result.
    """
    if session.dialect is Dialect.BUSINESS:
        return text
    if session.pending_call is not None:
        return ""
    first = parse_first_message(text)
    return first.user_text if first else text


async def _judged(text: str, *, thorough: bool) -> PrivacyVerdict:
    if len(text) <= LONG:
        return judge(text, thorough=thorough)
    return await anyio.to_thread.run_sync(partial(judge, text, thorough=thorough))
