"""answer: what is to be done about an intent. respond: about a message, open questions included.

Both read runs from disk and do nothing else: what is to be played, canceled or asked is returned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from adk_agent.conversation.about_runs import canceled, compared, results, rows_of, statuses
from adk_agent.conversation.courtesies import courtesy, help_text, off_topic
from adk_agent.conversation.deps import ConversationDeps
from adk_agent.conversation.evaluating import play_or_ask
from adk_agent.conversation.meant import RunIntent, run_of
from adk_agent.conversation.questions import settles, verdict
from adk_agent.conversation.repeating import repeated
from adk_agent.conversation.replies import Answer, Asked, CancelRuns, Play, Reading, Refused, Reply
from adk_agent.conversation.telling import STARTING, failures, of_agent
from adk_agent.conversation.turn import Turn
from adk_agent.conversation.why import why, with_named_task
from adk_agent.core.errors import GreenroomError, exit_code_of
from adk_agent.core.plan import Overrides
from adk_agent.requests.intent import (
    Ask,
    Cancel,
    Compare,
    Evaluate,
    Explain,
    Export,
    Failures,
    Help,
    Intent,
    ListThings,
    OffTopic,
    Question,
    Refuse,
    Repeat,
    Results,
    Situation,
    Smalltalk,
    Status,
    Why,
)
from adk_agent.results.summary import TrialRow
from adk_agent.runs.tracking import RunStatus, read_status
from tau_bridge.errors import BridgeError

Read = Callable[[str, Situation], Awaitable[Reading]]
"""Reads a message in its situation."""


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

    If a question is open, a plain yes or no settles it. Any other message is read.

    Args:
        text: The message.
        situation: The conversation that it is part of.
        deps: What answers are made from.
        read: Reads a message, in the light of an open question.
        reading: What was read, if the message was read already.
        overrides: The flags that came with it.
        confirmed: True if whatever it asks for was agreed to.

    Raises:
        ModelError: The configured model cannot be reached, and rules cannot read it either.
    """
    settled = await settle(situation.question, text, situation, deps)
    if settled is not None:
        return settled
    found = reading or await read(text, situation)
    return await answer(
        found.intent, found.text, situation, deps, overrides=overrides, confirmed=confirmed
    )


async def settle(
    question: Question | None, text: str, situation: Situation, deps: ConversationDeps
) -> Reply | None:
    """Return what a plain yes or no to an open question leads to; None for any other message."""
    if question is None or not settles(question, text):
        return None
    if question.waiting is None or verdict(text) == "no":
        played = isinstance(question.waiting, Evaluate) or question.plan is not None
        return Answer(text="Nothing was played." if played else "All right, I left it at that.")
    if question.plan is not None:
        return Play(plan=question.plan, request=question.request)
    return await answer(question.waiting, question.request, situation, deps, confirmed=True)


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
    turn = Turn(
        text=text,
        situation=situation,
        deps=deps,
        overrides=overrides or Overrides(),
        confirmed=confirmed,
    )
    try:
        return await asyncio.to_thread(_answer, intent, turn)
    except (GreenroomError, BridgeError) as error:
        return Refused(text=str(error), exit_code=exit_code_of(error))


def _answer(intent: Intent, turn: Turn) -> Reply:
    match intent:
        case Evaluate():
            return play_or_ask(intent, turn)
        case Ask():
            return Asked(question=Question(text=intent.question, request=turn.text))
        case Refuse():
            return Refused(text=intent.reason)
        case Help():
            return Answer(text=help_text(turn.deps))
        case Smalltalk():
            return Answer(text=courtesy(intent.kind, turn.deps))
        case OffTopic():
            return Answer(text=off_topic(turn.deps))
        case ListThings():
            # These import metrics, teams and exports, which a command that plays needs none of.
            from adk_agent.conversation.listing import listed

            return listed(intent, turn)
        case Explain():
            from adk_agent.conversation.terms import explained

            return explained(intent.term, turn.deps)
        case Compare():
            return compared(intent, turn)
        case _:
            return _about_run(intent, turn)


def _about_run(intent: RunIntent, turn: Turn) -> Reply:
    if turn.situation.preparing and intent.run_id is None:
        return CancelRuns(run_ids=()) if isinstance(intent, Cancel) else Answer(text=STARTING)
    meant = run_of(intent, turn)
    if isinstance(meant, Asked):
        return meant
    status = read_status(turn.deps.results_dir, meant)
    match intent:
        case Status():
            return statuses(intent, meant, turn)
        case Cancel():
            return canceled(intent, meant, turn)
        case Results():
            return results(status, turn.deps)
        case Export():
            from adk_agent.conversation.exporting import exported

            return exported(intent, status, turn)
        case _:
            return _about_trials(intent, status, turn)


def _about_trials(intent: Failures | Why | Repeat, status: RunStatus, turn: Turn) -> Reply:
    rows: Sequence[TrialRow] = rows_of(status, turn.deps)
    if isinstance(intent, Failures | Why):
        rows = of_agent(intent.agent, rows, status)
    match intent:
        case Failures():
            return Answer(text=failures(status, rows))
        case Why():
            return why(with_named_task(intent, turn.text, rows), status, rows, turn.deps)
        case Repeat():
            return repeated(intent, status, rows, turn)
