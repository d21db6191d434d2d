"""ReferenceHandler: answers A2A messages with the reference agent."""

from __future__ import annotations

import hashlib
import uuid
from collections import OrderedDict
from dataclasses import replace
from typing import Any

from a2a.helpers import new_text_message
from a2a.server.context import ServerCallContext
from a2a.types import Message, Task
from a2a.utils.errors import InvalidParamsError

from purple_agent.case import Incoming
from purple_agent.handler import TasklessHandler, read_turn
from purple_agent.model_usage import USAGE_KEY
from purple_agent.reference.agent import ReferenceAgent
from purple_agent.teams.peers import metadata_of
from purple_agent.teams.tracing import TRACEABILITY_KEY, TRACEABILITY_URI

ABOUT_KEY = "greenroom.reference"
"""Key of a reply's metadata with the agent's statements: author, process, quality, flags."""
MAX_OPENINGS = 1_000
"""Most first messages whose context is remembered."""


class ReferenceHandler(TasklessHandler):
    """Answers every message with one message, and with a trace if requested.

    A message without a context starts one. If the same message is sent again, because its answer
    was lost, it goes to the context that it started.
    """

    def __init__(self, agent: ReferenceAgent, *, streaming: bool = False) -> None:
        super().__init__(streaming=streaming)
        self._agent = agent
        self._begun: OrderedDict[bytes, str] = OrderedDict()

    async def answer(self, message: Message, context: ServerCallContext) -> Task | Message:
        """Return the agent's reply."""
        turn = read_turn(message)
        if not message.context_id:
            turn = replace(turn, context_id=self._begun_by(message))
        replied = await self._agent.reply(
            Incoming(
                context_id=turn.context_id,
                message_id=turn.message_id,
                text=turn.text,
                metadata=_metadata(message),
            )
        )
        reply = new_text_message(replied.answer.text, context_id=turn.context_id)
        about = {**replied.answer.metadata, "kind": replied.answer.kind}
        reply.metadata.update({ABOUT_KEY: about})
        if replied.usage:
            reply.metadata.update({USAGE_KEY: dict(replied.usage)})
        if TRACEABILITY_URI in context.requested_extensions:
            reply.metadata.update({TRACEABILITY_KEY: replied.trace()})
            reply.extensions.append(TRACEABILITY_URI)
        return reply

    def _begun_by(self, message: Message) -> str:
        """Return the context that a message starts, or started before."""
        key = hashlib.sha256(message.SerializeToString(deterministic=True)).digest()
        context_id = self._begun.setdefault(key, str(uuid.uuid4()))
        self._begun.move_to_end(key)
        if len(self._begun) > MAX_OPENINGS:
            self._begun.popitem(last=False)
        return context_id


def _metadata(message: Message) -> dict[str, Any]:
    try:
        return dict(metadata_of(message))
    except ValueError as error:
        raise InvalidParamsError(message=f"The metadata is not JSON: {error}") from error
