"""SessionStore: the sessions of all conversations, each used by one message at a time."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from purple_agent.background import Background
from purple_agent.case import Session, ToolProvider

MAX_SESSIONS = 1_000
IDLE_S = 3_600.0
MAX_LOST_POLICIES = 10_000
"""Most forgotten conversations whose policy hash is kept."""
CLOSE_S = 10.0
"""Timeout for closing the tools of a forgotten session."""


@dataclass(kw_only=True)
class _Slot:
    session: Session
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    """Number of messages that hold the lock or wait for it. A slot in use is never forgotten."""
    last_used_s: float


class SessionStore:
    """Keeps sessions by A2A context id, in memory only.

    A session is forgotten after `idle_s` without use, or as the least recently used of more than
    `max_sessions`. Its tools are closed in the background.

    If it had a policy, the hash is kept for the next session of that context, so that writes are
    forbidden until the same policy is sent again.

    Args:
        clock: Returns seconds of a monotonic clock.
        max_sessions: Most sessions to keep, from 1; more only while more are in use at once.
        idle_s: Seconds without use after which a session is forgotten.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        max_sessions: int = MAX_SESSIONS,
        idle_s: float = IDLE_S,
    ) -> None:
        self._clock = clock
        self._max_sessions = max_sessions
        self._idle_s = idle_s
        self._slots: OrderedDict[str, _Slot] = OrderedDict()
        self._lost_policies: OrderedDict[bytes, str] = OrderedDict()
        self.background = Background()
        """Work for sessions that continues after a reply."""

    def __len__(self) -> int:
        return len(self._slots)

    def __contains__(self, context_id: str) -> bool:
        return context_id in self._slots

    @contextlib.asynccontextmanager
    async def hold(self, context_id: str, make: Callable[[], Session]) -> AsyncIterator[Session]:
        """Lock the session of a context for one message; the next message waits.

        Args:
            context_id: The A2A context.
            make: Makes the session if there is none.
        """
        self.evict()
        slot = self._slots.get(context_id)
        if slot is None:
            slot = self._slots[context_id] = _Slot(session=make(), last_used_s=self._clock())
            slot.session.policy_hash = self._lost_policies.get(_key(context_id))
        self._touch(context_id, slot)
        try:
            async with _alone(slot):
                yield slot.session
        finally:
            self._touch(context_id, slot)
            self.evict()

    async def amend(self, session: Session, change: Callable[[Session], None]) -> bool:
        """Change a session between two messages; return False if it has been forgotten.

        This does not count as use of the session.
        """
        slot = self._slots.get(session.context_id)
        if slot is None or slot.session is not session:
            return False
        async with _alone(slot):
            change(session)
        return True

    def evict(self) -> None:
        """Forget sessions that were idle for too long or exceed the maximum."""
        horizon_s = self._clock() - self._idle_s
        surplus = len(self._slots) - self._max_sessions
        forgotten: list[str] = []
        for context_id, slot in self._slots.items():
            if len(forgotten) >= surplus and slot.last_used_s > horizon_s:
                break
            if not slot.users:
                forgotten.append(context_id)
        for context_id in forgotten:
            session = self._slots.pop(context_id).session
            self._note_policy(session)
            self._close_tools(session)

    def _note_policy(self, session: Session) -> None:
        key, policy_hash = _key(session.context_id), session.lasting_policy_hash
        if policy_hash is not None:
            self._lost_policies[key] = policy_hash
        else:
            self._lost_policies.pop(key, None)
        while len(self._lost_policies) > MAX_LOST_POLICIES:
            self._lost_policies.popitem(last=False)

    async def aclose(self) -> None:
        """Wait for background work, forget all sessions and close their tools."""
        await self.background.aclose()
        for slot in self._slots.values():
            self._close_tools(slot.session)
        self._slots.clear()
        await self.background.aclose()

    def _close_tools(self, session: Session) -> None:
        if session.tools is not None:
            self.background.start(_close(session.tools), name="close the tools of a session")

    def _touch(self, context_id: str, slot: _Slot) -> None:
        slot.last_used_s = self._clock()
        if context_id in self._slots:
            self._slots.move_to_end(context_id)


def _key(context_id: str) -> bytes:
    """Hash a context id, so that the key is short and reveals nothing."""
    return hashlib.sha256(context_id.encode("utf-8", "surrogatepass")).digest()


@contextlib.asynccontextmanager
async def _alone(slot: _Slot) -> AsyncIterator[None]:
    slot.users += 1
    try:
        async with slot.lock:
            yield
    finally:
        slot.users -= 1


async def _close(tools: ToolProvider) -> None:
    async with asyncio.timeout(CLOSE_S):
        await tools.aclose()
