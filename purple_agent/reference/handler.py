"""ReferenceHandler: the reference agent behind A2A messages."""

from __future__ import annotations

from typing import Any

from a2a.helpers import new_text_message
from a2a.server.context import ServerCallContext
from a2a.types import Message, Task
from a2a.utils.errors import InvalidParamsError

from purple_agent.case import Incoming
from purple_agent.handler import TasklessHandler, read_turn
from purple_agent.reference.agent import ReferenceAgent
from purple_agent.teams.peers import metadata_of
from purple_agent.teams.tracing import TRACEABILITY_KEY, TRACEABILITY_URI

ABOUT_KEY = "greenroom.reference"
"""Key of a reply's metadata that holds what the agent says of it: author, process, quality, flags."""


class ReferenceHandler(TasklessHandler):
    """Answers every message with one message, and with a trace where that is asked for."""

    def __init__(self, agent: ReferenceAgent, *, streaming: bool = False) -> None:
        super().__init__(streaming=streaming)
        self._agent = agent

    async def answer(self, message: Message, context: ServerCallContext) -> Task | Message:
        """The agent's reply."""
        turn = read_turn(message)
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
        if TRACEABILITY_URI in context.requested_extensions:
            reply.metadata.update({TRACEABILITY_KEY: replied.trace()})
            reply.extensions.append(TRACEABILITY_URI)
        return reply


def _metadata(message: Message) -> dict[str, Any]:
    try:
        return dict(metadata_of(message))
    except ValueError as error:
        raise InvalidParamsError(message=f"The metadata is not JSON: {error}") from error
