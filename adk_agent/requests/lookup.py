"""LookupTools: two tools for a language model, one that lists tasks and one that registers agents.

They take and return JSON, and return `{"error": ...}` on failure. The Python methods raise instead.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from adk_agent.core.errors import GreenroomError, RequestError, StorageError
from adk_agent.requests.reading.vocabulary import Vocabulary
from adk_agent.requests.reading.words import did_you_mean
from adk_agent.requests.registry import (
    AgentRegistry,
    RegisteredAgent,
    checked_name,
    checked_url,
    summary_of,
)
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import BridgeError

logger = logging.getLogger(__name__)

DEFAULT_LISTED = 50
MAX_LISTED = 1_000
REGISTER_AGENT, LIST_TASKS = "register_agent", "list_tasks"


class LookupTools:
    """Registers agents and lists tasks.

    Args:
        catalogue: Returns all benchmarks.
        results_dir: The folder with the file of registered agents.
        new_messenger: Makes the client that fetches cards. Its policy screens the addresses.
    """

    def __init__(
        self,
        *,
        catalogue: Callable[[], Benchmarks],
        results_dir: Path,
        new_messenger: Callable[[], Messenger],
    ) -> None:
        self._catalogue = catalogue
        self._registry = AgentRegistry(results_dir)
        self._new_messenger = new_messenger

    @property
    def functions(self) -> tuple[Callable[..., Awaitable[dict[str, Any]]], ...]:
        """Both tools, for an agent's `tools`."""
        return self.register_agent, self.list_tasks

    async def register_agent(self, name: str, url: str) -> dict[str, Any]:
        """Remember the agent at an address under a name that requests may use instead.

        Args:
            name: Lower-case words with a hyphen between, for example shop-bot.
            url: The agent's address, for example http://localhost:9010.

        Returns:
            name, url and card of the agent; replaced, the address that had the name before, or
            null; or error.
        """
        return await answered(self._register(name, url))

    async def list_tasks(
        self, domain: str, split: str = "base", limit: int = DEFAULT_LISTED
    ) -> dict[str, Any]:
        """List the ids of the tasks of a domain, in their order.

        Args:
            domain: The name of a domain; the answer to an unknown one lists all.
            split: Which part of the domain: base, or another one that it has.
            limit: At most this many ids, from 1 to 1000.

        Returns:
            domain, split, total (how many there are) and tasks (the first ids); or error.
        """
        return await answered(asyncio.to_thread(self._tasks, domain, split, limit))

    async def register(self, name: str, url: str) -> tuple[RegisteredAgent, RegisteredAgent | None]:
        """Fetch an agent's card and record the agent; return it and the previous owner of the name.

        Raises:
            RequestError: The name or the address is invalid.
            AgentError: No agent answers there, or it must not be contacted.
            StorageError: The file of registered agents cannot be used.
        """
        vocabulary = Vocabulary.of(await asyncio.to_thread(self._catalogue))
        plain = checked_name(as_text("name", name), vocabulary)
        address = checked_url(as_text("url", url))
        messenger = self._new_messenger()
        try:
            card = await messenger.card(address)
        finally:
            await messenger.aclose()
        agent = RegisteredAgent(name=plain, url=address, card=summary_of(card))
        return agent, await asyncio.to_thread(self._registry.add, agent)

    def registered(self) -> Mapping[str, str]:
        """Return addresses by name; if they cannot be read, log a warning and return none."""
        try:
            return self._registry.addresses()
        except StorageError as error:
            logger.warning("cannot read the registered agents: %s", error)
            return {}

    async def _register(self, name: str, url: str) -> dict[str, Any]:
        agent, before = await self.register(name, url)
        replaced = before.url if before is not None and before.url != agent.url else None
        return {**agent.model_dump(mode="json"), "replaced": replaced}

    def _tasks(self, domain: str, split: str, limit: int) -> dict[str, Any]:
        wanted = as_text("domain", domain).strip().lower()
        if limit not in range(1, MAX_LISTED + 1):  # a model may send any type
            raise RequestError(f"limit {limit!r} is not a whole number from 1 to {MAX_LISTED}")
        catalogue = self._catalogue()
        if wanted not in catalogue.domains:
            hint = did_you_mean(wanted, catalogue.domains)
            raise RequestError(f"there is no domain {domain[:80]!r}: {hint}")
        ids = catalogue.of(wanted).task_ids(wanted, as_text("split", split))
        return {
            "domain": wanted,
            "split": split,
            "total": len(ids),
            "tasks": list(ids[: int(limit)]),
        }


async def answered(work: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """Return the result of `work`, or `{"error": ...}` if it raises one of our errors."""
    try:
        return await work
    except (GreenroomError, BridgeError) as error:
        return {"error": str(error)}


def as_text(name: str, value: object) -> str:
    """Return a text argument after checking it, because a model may send anything.

    Raises:
        RequestError: It is not text.
    """
    if not isinstance(value, str):
        raise RequestError(f"{name} is {value!r:.80}, but must be text")
    return value
