"""Agents that replay gold actions, and differ in what a repeated message or a turned-away call does.

| agent | a message that is delivered again | a call that was turned away |
|---|---|---|
| idempotent | gets the reply that it got | is lost |
| retrying | gets the reply that it got | is made again |
| writes-twice | is a second job: its call is made once more | is lost |
| forgetful | ends the work: the conversation is lost | is lost |
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from types import MappingProxyType

from purple_agent import wire
from purple_agent.conversation import Turn
from purple_agent.oracle import MAX_CONVERSATIONS, Conversation, GoldScript, OracleAgent

TURNED_AWAY = ("not carried out", "try again")
"""The words of a result that says so."""
LOST = "I am sorry, I have lost track of our conversation. I cannot help with that."


class IdempotentAgent(OracleAgent):
    """Answers a message that it knows as before, also where its context has another id now.

    A first message has no context id. Where the reply to it is lost, it comes again in what is a
    new context, and both are one conversation.
    """

    def __init__(self, scripts: Mapping[str, GoldScript]) -> None:
        super().__init__(scripts)
        self._answered: OrderedDict[str, Conversation] = OrderedDict()

    def reply(self, turn: Turn) -> str:
        """Return the next reply; for a message that is delivered again, what `_again` says."""
        known = self._answered.get(turn.message_id)
        if known is not None:
            self._conversations[turn.context_id] = known
            return self._again(known)
        said = super().reply(turn)
        self._answered[turn.message_id] = self._conversations[turn.context_id]
        if len(self._answered) > MAX_CONVERSATIONS:
            self._answered.popitem(last=False)
        return said

    def _again(self, conversation: Conversation) -> str:
        return conversation.last_reply


class RetryingAgent(IdempotentAgent):
    """Makes a call again whose result says that it was not carried out."""

    def _hear(self, conversation: Conversation, text: str) -> None:
        done = conversation.done
        if done is not None and all(words in text for words in TURNED_AWAY):
            conversation.ahead.appendleft(done)


class WritesTwiceAgent(IdempotentAgent):
    """Takes each delivery of a message for a job of its own, and does every job."""

    def _again(self, conversation: Conversation) -> str:
        if conversation.done is not None:
            conversation.ahead.appendleft(conversation.done)
        return conversation.last_reply


class ForgetfulAgent(IdempotentAgent):
    """Loses a conversation in which a message is delivered again."""

    def reply(self, turn: Turn) -> str:
        """Return the next gold action, or that the conversation is lost."""
        known = self._conversations.get(turn.context_id)
        return wire.respond(LOST) if known is not None and known.is_lost else super().reply(turn)

    def _again(self, conversation: Conversation) -> str:
        conversation.is_lost = True
        return wire.respond(LOST)


AGENTS = MappingProxyType(
    {
        "idempotent": IdempotentAgent,
        "retrying": RetryingAgent,
        "writes-twice": WritesTwiceAgent,
        "forgetful": ForgetfulAgent,
    }
)
