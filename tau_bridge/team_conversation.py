"""TeamConversation: a conversation with the member that answers for its team."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tau_bridge.a2a.peers import PEERS_KEY

if TYPE_CHECKING:
    from tau_bridge.a2a.conversation import Conversation
    from tau_bridge.benchmark import Team


@dataclass(frozen=True, kw_only=True)
class TeamReply:
    """A reply without the addresses of its team, which hold tokens."""

    text: str
    data: Sequence[Any]
    step_id: str | None
    words: str

    def as_text(self) -> str:
        """Return text and data in one, the data as JSON."""
        return self.words


class TeamConversation:
    """Tells an agent of its peers in its first message, and keeps their addresses out of replies.

    Args:
        conversation: A fresh context with the agent.
        team: Its team; of an agent without peers, messages and replies stay as they are.
    """

    def __init__(self, conversation: Conversation, team: Team) -> None:
        self._conversation = conversation
        self._team = team
        self._lines = team.briefing()
        if team.peers:
            conversation.attach({PEERS_KEY: dict(team.peers)})

    async def send(self, text: str) -> TeamReply:
        """Send a message and return the reply.

        Raises:
            AgentError: There is no reply.
        """
        lines, self._lines = self._lines, ""
        reply = await self._conversation.send(text + lines)
        redact = self._team.redact
        return TeamReply(
            text=redact(reply.text),
            data=[json.loads(redact(json.dumps(each))) for each in reply.data],
            step_id=reply.step_id,
            words=redact(reply.as_text()),
        )
