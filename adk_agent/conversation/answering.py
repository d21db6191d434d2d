"""answer: what is to be done about an intent. respond: about a message, open questions included.

Both read runs from disk and do nothing else: what is to be played, canceled or asked is returned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from adk_agent.conversation.deps import ConversationDeps
from adk_agent.conversation.evaluating import play_or_ask
from adk_agent.conversation.questions import verdict
from adk_agent.conversation.replies import Answer, Asked, Play, Reading, Refused, Reply
from adk_agent.core.errors import GreenroomError, exit_code_of
from adk_agent.core.plan import Overrides
from adk_agent.requests.intent import Ask, Evaluate, Intent, Question, Refuse, Situation
from tau_bridge.errors import BridgeError

Read = Callable[[str, Situation], Awaitable[Reading]]
"""Reads a message."""


async def respond(
    text: str,
    situation: Situation,
    deps: ConversationDeps,
    *,
    read: Read,
    reading: Reading | None = None,
    overrides: Overrides | None = None,
    confirmed: bool = False,
) -> Reply:
    """Return what is to be done about a message.

    If a question is open, a plain yes or no settles it. Any other message is read together with the
    request that the question is about, and alone if that cannot be read.

    Args:
        text: The message.
        situation: The conversation that it is part of.
        deps: What answers are made from.
        read: Reads a message.
        reading: What was read, if the message was read already.
        overrides: The flags that came with it.
        confirmed: True if whatever it asks for was agreed to.

    Raises:
        ModelError: The configured model cannot be reached, and rules cannot read it either.
    """
    settled = await settle(situation.question, text, situation, deps)
    if settled is not None:
        return settled
    if reading is None:
        reading, text = await read_in_context(text, situation, read)
    return await answer(
        reading.intent, text, situation, deps, overrides=overrides, confirmed=confirmed
    )


async def settle(
    question: Question | None, text: str, situation: Situation, deps: ConversationDeps
) -> Reply | None:
    """Return what a plain yes or no to an open question leads to; None for any other message."""
    if question is None or question.waiting is None:
        return None
    said = verdict(text)
    if said is None:
        return None
    if said == "no":
        played = isinstance(question.waiting, Evaluate) or question.plan is not None
        return Answer(text="Nothing was played." if played else "All right, I left it at that.")
    if question.plan is not None:
        return Play(plan=question.plan, request=question.request)
    return await answer(question.waiting, question.request, situation, deps, confirmed=True)


async def read_in_context(text: str, situation: Situation, read: Read) -> tuple[Reading, str]:
    """Read a message, together with the request of an open question if that can be read.

    Returns:
        The reading, and the text that was read.
    """
    question = situation.question
    if question is not None and question.request:
        both = f"{question.request}\n{text}"
        reading = await read(both, situation)
        if not isinstance(reading.intent, Ask | Refuse):
            return reading, both
    return await read(text, situation), text


async def answer(
    intent: Intent,
    text: str,
    situation: Situation,
    deps: ConversationDeps,
    *,
    overrides: Overrides | None = None,
    confirmed: bool = False,
) -> Reply:
    """Return what is to be done about an intent.

    Args:
        intent: What a message wants.
        text: The message; a run keeps it as its request.
        situation: The conversation that it is part of.
        deps: What answers are made from.
        overrides: The flags that came with it.
        confirmed: True if whatever it asks for was agreed to, so that nothing is confirmed.
    """
    try:
        return await asyncio.to_thread(
            _answer, intent, text, situation, deps, overrides=overrides, confirmed=confirmed
        )
    except (GreenroomError, BridgeError) as error:
        return Refused(text=str(error), exit_code=exit_code_of(error))


def _answer(
    intent: Intent,
    text: str,
    situation: Situation,
    deps: ConversationDeps,
    *,
    overrides: Overrides | None,
    confirmed: bool,
) -> Reply:
    match intent:
        case Evaluate():
            return play_or_ask(
                intent, text, situation, deps, overrides=overrides, confirmed=confirmed
            )
        case Ask():
            return Asked(question=Question(text=intent.question, request=text))
        case Refuse():
            return Refused(text=intent.reason)
        case _:
            return Refused(text=f"{intent.intent} is not answered yet.")
