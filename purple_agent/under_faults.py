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
from purple_agent.oracle import Conversation, GoldScript, OracleAgent

TURNED_AWAY = ("not carried out", "try again")
"""The words of a result that says so."""
MOST_REPLIES = 10_000
LOST = "I am sorry, I have lost track of our conversation. I cannot help with that."


class IdempotentAgent(OracleAgent):
    """Answers a message as before if it knows its id, also where the context is not named yet."""

    def __init__(self, scripts: Mapping[str, GoldScript]) -> None:
        super().__init__(scripts)
        self._replies: OrderedDict[str, str] = OrderedDict()

    def reply(self, turn: Turn) -> str:
        """Return the reply that the message has got, or the next one."""
        if turn.message_id in self._replies and turn.context_id in self._conversations:
            return self._replies[turn.message_id]
        said = self._replies[turn.message_id] = super().reply(turn)
        if len(self._replies) > MOST_REPLIES:
            self._replies.popitem(last=False)
        return said


class RetryingAgent(IdempotentAgent):
    """Makes a call again whose result says that it was not carried out."""

    def _hear(self, conversation: Conversation, text: str) -> None:
        done = conversation.done
        if done is not None and all(words in text for words in TURNED_AWAY):
            conversation.ahead.appendleft(done)


class WritesTwiceAgent(OracleAgent):
    """Takes each delivery of a message for a job of its own, and does every job."""

    def reply(self, turn: Turn) -> str:
        """Return the next gold action; a call that a message asks for again is due once more."""
        known = self._conversations.get(turn.context_id)
        if known is not None and turn.message_id == known.last_message_id and known.done:
            known.ahead.appendleft(known.done)
        return super().reply(turn)


class ForgetfulAgent(OracleAgent):
    """Loses a conversation in which a message is delivered again."""

    def reply(self, turn: Turn) -> str:
        """Return the next gold action, or that the conversation is lost."""
        known = self._conversations.get(turn.context_id)
        if known is not None and turn.message_id == known.last_message_id:
            known.is_lost = True
        if known is not None and known.is_lost:
            return wire.respond(LOST)
        return super().reply(turn)


AGENTS = MappingProxyType(
    {
        "idempotent": IdempotentAgent,
        "retrying": RetryingAgent,
        "writes-twice": WritesTwiceAgent,
        "forgetful": ForgetfulAgent,
    }
)
