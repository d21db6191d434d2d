"""FaultyDelivery: what a message meets on its way to the agent, where faults are injected.

| fault | the agent | we |
|---|---|---|
| `lost_reply` | gets the message and answers, then gets the same message again | read the second answer |
| `duplicate` | answers, then gets the same message again | read the first answer |
| `busy` | gets nothing, then the message | are answered 429 or 503 once, by nobody, and send again |
| `delay` | gets the message later | wait |

The same message has the same message id, as A2A demands of a client that repeats one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tau_bridge.chaos.injector import DELAY_S, INJECTED

if TYPE_CHECKING:
    from tau_bridge.a2a.guard import Exchange, Sleep
    from tau_bridge.chaos.injector import Injector, MessageFault

DROPPED = "dropped_reply"
"""The attribute of a step with the reply that nobody read."""
Deliver = Callable[[], Awaitable[str]]


class FaultyDelivery:
    """The faults of one conversation's messages, as an injector draws them."""

    def __init__(self, injector: Injector, *, sleep: Sleep) -> None:
        self._injector = injector
        self._sleep = sleep

    @asynccontextmanager
    async def around(
        self, current: Exchange, deliver: Deliver, attributes: dict[str, str]
    ) -> AsyncIterator[None]:
        """Inject the fault of the next message around its delivery.

        Args:
            current: The delivery.
            deliver: Delivers the same message once more; returns the reply, which nobody reads.
            attributes: Of the step; the fault is added to them.
        """
        fault = self._injector.next_message()
        if fault == "lost_reply":
            attributes[DROPPED] = await deliver()
            self._note(fault, attributes, attributes[DROPPED])
        elif fault == "delay":
            await self._sleep(DELAY_S)
            self._note(fault, attributes, f"{DELAY_S:g} s")
        elif fault == "busy":
            current.refusals.append(self._injector.status())
        refusals = tuple(current.refusals)
        try:
            yield
        finally:
            # A binding without statuses, such as gRPC, takes none of them.
            if refusals and not current.refusals:
                self._note("busy", attributes, str(refusals[0]))
            current.refusals.clear()
        if fault == "duplicate":
            attributes[DROPPED] = await deliver()
            self._note(fault, attributes, attributes[DROPPED])

    def _note(self, fault: MessageFault, attributes: dict[str, str], detail: str) -> None:
        attributes[INJECTED] = fault
        self._injector.note_message(fault, detail)
