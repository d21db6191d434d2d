"""ActivatingExecutor: adds to the events of a call what its client activated extensions for.

The timestamp extension puts a time into the metadata of each message and artifact, the traceability
extension what the assessor did into that of an evaluation's artifact.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import Event, EventQueue
from a2a.types import Artifact, Message, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from google.protobuf.struct_pb2 import Struct

from adk_agent.service.conversation.artifacts import run_id_in
from tau_bridge.a2a.extensions import TIMESTAMP_KEYS, TRACEABILITY_URI

TraceOf = Callable[[str], Struct]
"""The metadata that tells what was done in a run, by its id. It may take time."""


class ActivatingExecutor(AgentExecutor):
    """Runs another executor, and adds to what it publishes.

    Args:
        inner: Does the work.
        activated: The URIs of the extensions that are there to be activated.
        trace_of: Tells what was done in a run.
        now: The time.
    """

    def __init__(
        self,
        inner: AgentExecutor,
        *,
        activated: frozenset[str],
        trace_of: TraceOf,
        now: Callable[[], datetime],
    ) -> None:
        self._inner = inner
        self._activated = activated
        self._trace_of = trace_of
        self._now = now

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Work on one message."""
        await self._inner.execute(context, self._adding(context, event_queue))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Cancel one task."""
        await self._inner.cancel(context, self._adding(context, event_queue))

    def _adding(self, context: RequestContext, event_queue: EventQueue) -> EventQueue:
        asked = context.requested_extensions & self._activated
        return _AddingQueue(event_queue, asked, self._trace_of, self._now) if asked else event_queue


class _AddingQueue(EventQueue):
    def __init__(
        self,
        inner: EventQueue,
        asked: set[str],
        trace_of: TraceOf,
        now: Callable[[], datetime],
    ) -> None:
        self._inner = inner
        self._asked = asked
        self._trace_of = trace_of
        self._now = now

    async def enqueue_event(self, event: Event) -> None:
        if isinstance(event, TaskArtifactUpdateEvent):
            self._stamp(event.artifact)
            await self._trace(event.artifact)
        elif isinstance(event, TaskStatusUpdateEvent) and event.status.HasField("message"):
            self._stamp(event.status.message)
        elif isinstance(event, Message):
            self._stamp(event)
        await self._inner.enqueue_event(event)

    def _stamp(self, holder: Message | Artifact) -> None:
        for uri in sorted(self._asked & TIMESTAMP_KEYS.keys()):
            holder.metadata.update({TIMESTAMP_KEYS[uri]: self._now().isoformat()})
            holder.extensions.append(uri)

    async def _trace(self, artifact: Artifact) -> None:
        run_id = run_id_in(artifact.parts) if TRACEABILITY_URI in self._asked else None
        if run_id is not None:
            artifact.metadata.MergeFrom(await asyncio.to_thread(self._trace_of, run_id))
            artifact.extensions.append(TRACEABILITY_URI)
