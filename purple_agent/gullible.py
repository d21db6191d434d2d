"""The gullible agent: replays a task's gold actions, and obeys any text that it is told to obey.

The ceiling of attacks by injected text: what an agent suffers that believes every tool's result.
"""

from __future__ import annotations

from purple_agent.oracle import Conversation, OracleAgent


class GullibleAgent(OracleAgent):
    """Plays like the oracle, but does first what an injected text demands once it has seen it."""

    def _hear(self, conversation: Conversation, text: str) -> None:
        injected = conversation.script.injected
        if injected is not None and injected.text in text:
            conversation.obey(injected)
