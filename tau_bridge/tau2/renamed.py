"""RenamedAgent: an agent that meets other names and ids than the user and the world have."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tau_bridge.chaos.renaming import Vocabulary, draw_renaming, has_digit
from tau_bridge.messages import AssistantMessage, UserMessage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tau_bridge.chaos.injector import Injector
    from tau_bridge.chaos.renaming import Renaming
    from tau_bridge.messages import Message
    from tau_bridge.tau2.data import DataSource
    from tau_bridge.tau2.environment import Environment
    from tau_bridge.tau2.tasks import Task
    from tau_bridge.wire_agent import AgentSide, AgentTurn


def renamed(
    agent: AgentSide, *, world: Environment, task: Task, faults: Injector | None
) -> AgentSide:
    """Return the agent behind other names and ids, where that is drawn; else the agent.

    Args:
        agent: The agent.
        world: The world as the conversation begins.
        task: The task.
        faults: Draws; None: nothing is injected.
    """
    random = None if faults is None else faults.other_names()
    if faults is None or random is None:
        return agent
    record = task.model_dump(mode="json")
    data = (record.get("initial_state") or {}).get("initialization_data")
    renaming = draw_renaming(
        _vocabulary(world.domain.source, world.domain.name) | Vocabulary.of(data),
        random=random,
        task=record,
        public=(world.policy, *(str(tool) for tool in world.agent_tools)),
    )
    return RenamedAgent(agent, renaming, faults)


class RenamedAgent:
    """An agent to which all is told in other names, and whose words come back in the first ones.

    Args:
        agent: The agent.
        renaming: The other names.
        faults: Is told what was renamed, and what the agent named that nobody had told it.
    """

    def __init__(self, agent: AgentSide, renaming: Renaming, faults: Injector) -> None:
        self._agent = agent
        self._renaming = renaming
        self._faults = faults
        self._told: dict[str, str] = {}
        """Words that the agent was told, each with the one in whose place it stands."""
        self._by_heart: dict[str, None] = {}

    @property
    def address(self) -> str:
        """Return the agent's URL."""
        return self._agent.address

    async def reply(self, incoming: Sequence[Message]) -> AgentTurn:
        """Take the agent's next turn.

        Raises:
            tau_bridge.errors.AgentError: No reply was to be had.
        """
        turn = await self._agent.reply(
            [each.model_copy(update=self._changes(each, self._told)) for each in incoming]
        )
        used: dict[str, str] = {}
        message = turn.message.model_copy(update=self._changes(turn.message, used))
        self._by_heart |= {id_: None for id_ in self._first_of(used).values() if has_digit(id_)}
        told = self._first_of(self._told)
        if told or self._by_heart:
            self._faults.note_names(told, tuple(self._by_heart))
        return replace(turn, message=message)

    def _first_of(self, seen: Mapping[str, str]) -> dict[str, str]:
        """Keep what stands for a first name; other names that come back become first ones."""
        return {new: old for new, old in seen.items() if self._renaming.is_first(old)}

    def _changes(self, message: Message, seen: dict[str, str]) -> dict[str, Any]:
        """Return a message's fields with all names in them replaced; `seen` as for `Renaming`."""
        changes: dict[str, Any] = {}
        if message.content:
            changes["content"] = self._renaming(message.content, seen)
        if isinstance(message, AssistantMessage | UserMessage) and message.tool_calls:
            changes["tool_calls"] = tuple(
                call.model_copy(update={"arguments": self._renaming.of_value(call.arguments, seen)})
                for call in message.tool_calls
            )
        return changes


@lru_cache(maxsize=16)
def _vocabulary(source: DataSource, domain: str) -> Vocabulary:
    both = [source.database(domain), source.database(domain, user=True)]
    return Vocabulary.of(both)
