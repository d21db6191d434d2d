"""An agent that solves some tasks, gives up the others, and says how sure it is where it is asked."""

from __future__ import annotations

import zlib

from purple_agent import wire
from purple_agent.baselines import REFUSAL
from purple_agent.conversation import Turn
from purple_agent.oracle import Conversation, OracleAgent, closing

ASKED = "[confidence:"
"""Stands in the first message of whoever wants to know."""
SURE, UNSURE = "[confidence: 90%]", "[confidence: 10%]"


class CandidAgent(OracleAgent):
    """Replays the gold actions of about half of the tasks, and does nothing in the others."""

    def reply(self, turn: Turn) -> str:
        """Return the next gold action, or closing words with the confidence, if that was asked for."""
        said = super().reply(turn)
        conversation = self._conversations[turn.context_id]
        if conversation.done is not None or (conversation.solo and not conversation.gives_up):
            return said
        words = REFUSAL if conversation.gives_up else closing(conversation.script)
        if not conversation.states_confidence:
            return wire.respond(words)
        return wire.respond(f"{words}\n{UNSURE if conversation.gives_up else SURE}")

    def _begin(self, turn: Turn) -> Conversation:
        conversation = super()._begin(turn)
        conversation.states_confidence = ASKED in turn.text
        # By what the task demands, so that each process and each trial decides alike.
        if zlib.crc32(conversation.script.model_dump_json().encode()) % 2:
            conversation.gives_up = True
            conversation.ahead.clear()
        return conversation
