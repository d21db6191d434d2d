"""read_intent: reads a message without a language model."""

from __future__ import annotations

from adk_agent.requests.agentbeats import find_json
from adk_agent.requests.find_tasks import TaskSearch
from adk_agent.requests.intent import Ask, Evaluate, Intent, Refuse, Situation
from adk_agent.requests.language.follow_ups import read_follow_up
from adk_agent.requests.reader import Refusal, Vocabulary, read_request
from adk_agent.requests.refusal import RefusalCode

_ASKED: frozenset[RefusalCode] = frozenset(
    {"no-agent", "no-domain", "ambiguous", "not-an-evaluation"}
)
"""Refusals that a further word may settle."""


def read_intent(
    text: str,
    situation: Situation,
    *,
    vocabulary: Vocabulary,
    finder: TaskSearch | None = None,  # noqa: ARG001 - for readers of topics
) -> Intent:
    """Return what a message wants: AgentBeats JSON, a follow-up, or a request in plain English.

    Args:
        text: The message.
        situation: The conversation that it is part of.
        vocabulary: The names that it may use.
        finder: Finds tasks by what they are about.
    """
    if not is_json(text, vocabulary):
        follow_up = read_follow_up(text, situation, vocabulary=vocabulary)
        if follow_up is not None:
            return follow_up
    try:
        request = read_request(text, situation.registered, vocabulary=vocabulary)
    except Refusal as refusal:
        if refusal.code in _ASKED:
            return Ask(question=str(refusal), code=refusal.code)
        return Refuse(reason=str(refusal), code=refusal.code)
    return Evaluate(request=request)


def is_json(text: str, vocabulary: Vocabulary) -> bool:
    """Tell whether a message is AgentBeats JSON, which needs no reader of sentences."""
    try:
        return find_json(text, vocabulary) is not None
    except Refusal:
        return True
