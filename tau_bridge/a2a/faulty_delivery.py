"""FaultyDelivery: what a message meets on its way to the agent, where faults are injected.

| fault | the agent | we |
|---|---|---|
| `lost_reply` | gets the message and answers, then gets the same message again | read the second answer |
| `duplicate` | answers, then gets the same message again | read the first answer |
| `busy` | gets nothing, then the message | are answered 429 or 503 once, by nobody, and send again |
| `delay` | gets the message later | wait |
| `cut_stream` | loses the connection while it answers | ask for its task, or send again where none is known |

The same message has the same message id, as A2A demands of a client that repeats one.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from a2a.types import StreamResponse

from tau_bridge.chaos.injector import DELAY_S, INJECTED

if TYPE_CHECKING:
    from tau_bridge.a2a.guard import Exchange, Sleep
    from tau_bridge.chaos.injector import Injector, MessageFault

DROPPED = "dropped_reply"
"""The attribute of a step with the reply that nobody read."""


class Dropped(NamedTuple):
    """A reply that nobody read."""

    said: str
    is_error: bool
    """True if there was none: the agent answered with an error, or not at all."""


Deliver = Callable[[], Awaitable[Dropped]]
Resume = Callable[[str | None], AsyncIterator[StreamResponse]]


class FaultyDelivery:
    """The faults of one conversation's messages, as an injector draws them."""

    def __init__(self, injector: Injector, *, sleep: Sleep) -> None:
        self._injector = injector
        self._sleep = sleep

    @asynccontextmanager
    async def around(
        self, current: Exchange, deliver: Deliver, attributes: dict[str, str]
    ) -> AsyncIterator[int | None]:
        """Inject the fault of the next message around its delivery.

        Yields how many events of the answer arrive before its stream is to be cut off, with `cut`;
        None: it is not.

        Args:
            current: The delivery.
            deliver: Delivers the same message once more; returns the reply, which nobody reads.
            attributes: Of the step; the fault is added to them.
        """
        fault = self._injector.next_message()
        if fault == "lost_reply":
            self._note_dropped(fault, attributes, await deliver())
        elif fault == "delay":
            await self._sleep(DELAY_S)
            self._note(fault, attributes, f"{DELAY_S:g} s")
        elif fault == "busy":
            current.refusals.append(self._injector.status())
        refusals = tuple(current.refusals)
        try:
            yield self._injector.events_before_cut() if fault == "cut_stream" else None
        finally:
            # A binding without statuses, such as gRPC, takes none of them.
            if refusals and not current.refusals:
                self._note("busy", attributes, str(refusals[0]))
            current.refusals.clear()
        if fault == "duplicate":
            self._note_dropped(fault, attributes, await deliver())

    async def cut(
        self,
        events: AsyncGenerator[StreamResponse],
        *,
        after: int,
        resume: Resume,
        attributes: dict[str, str],
    ) -> AsyncGenerator[StreamResponse]:
        """Yield the first events of a stream, cut it off, and go on as a client does.

        Args:
            events: The stream; one that has ended by then is left alone.
            after: How many events arrive.
            resume: Takes the id of the task, None where no event named one, and yields the rest.
            attributes: Of the step; the fault is added to them.
        """
        task_id: str | None = None
        arrived = 0
        async for event in events:
            if arrived == after:
                break
            arrived += 1
            task_id = _task_of(event) or task_id
            yield event
        else:
            return
        await events.aclose()
        then = "asked for its task" if task_id else "sent again"
        noun = "event" if after == 1 else "events"
        self._note("cut_stream", attributes, f"after {after} {noun}, then {then}")
        async for event in resume(task_id):
            yield event

    def _note_dropped(
        self, fault: MessageFault, attributes: dict[str, str], dropped: Dropped
    ) -> None:
        attributes.update({DROPPED: dropped.said, INJECTED: fault})
        self._injector.note_message(fault, dropped.said, is_error=dropped.is_error)

    def _note(self, fault: MessageFault, attributes: dict[str, str], detail: str) -> None:
        attributes[INJECTED] = fault
        self._injector.note_message(fault, detail)


def _task_of(event: StreamResponse) -> str:
    """Return the id of the task that an event is about; empty for a message."""
    if event.HasField("task"):
        return event.task.id
    if event.HasField("status_update"):
        return event.status_update.task_id
    return event.artifact_update.task_id if event.HasField("artifact_update") else ""
