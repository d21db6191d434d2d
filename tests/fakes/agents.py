"""A real a2a-sdk agent that answers as it is told to, by every way a reply can travel."""

from __future__ import annotations

import contextlib
import inspect
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from a2a.helpers import new_data_part, new_message, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Part,
    TaskState,
)
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.fakes.grpc_serving import a2a_servicers, serve_grpc

Content: TypeAlias = "str | dict[str, Any] | Sequence[str | dict[str, Any] | Part]"
ReplyFunction: TypeAlias = "Callable[[str, str], Content | Awaitable[Content]]"
ReplyTransport = Literal["artifact_text", "artifact_data", "artifact_chunks", "status", "message"]
FinalState = Literal[
    "completed", "input_required", "failed", "rejected", "canceled", "auth_required"
]
Protocol = Literal["1.0", "0.3"]
Binding = Literal["JSONRPC", "HTTP+JSON", "GRPC"]

_STATES: Mapping[FinalState, TaskState] = {
    "completed": TaskState.TASK_STATE_COMPLETED,
    "input_required": TaskState.TASK_STATE_INPUT_REQUIRED,
    "failed": TaskState.TASK_STATE_FAILED,
    "rejected": TaskState.TASK_STATE_REJECTED,
    "canceled": TaskState.TASK_STATE_CANCELED,
    "auth_required": TaskState.TASK_STATE_AUTH_REQUIRED,
}


def card_for(
    base_url: str,
    *,
    name: str = "scripted",
    protocols: Sequence[Protocol] = ("1.0", "0.3"),
    bindings: Sequence[Binding] = ("JSONRPC",),
    streaming: bool = True,
    interface_url: str | None = None,
    grpc_url: str | None = None,
) -> AgentCard:
    """A complete card for an agent at `base_url`; `interface_url` is advertised instead of it.

    `grpc_url` is where gRPC is served.
    """
    url = base_url if interface_url is None else interface_url
    return AgentCard(
        name=name,
        description="Answers as it was told to.",
        version="1.2.3",
        capabilities=AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain", "application/json"],
        skills=[AgentSkill(id="talk", name="Talk", description="Talks.", tags=["test"])],
        supported_interfaces=[
            AgentInterface(
                url=grpc_url or url if binding == "GRPC" else url,
                protocol_binding=binding,
                protocol_version=version,
            )
            for binding in bindings
            for version in protocols
        ],
    )


def _parts(content: Content, *, data_as_text: bool) -> list[Part]:
    if isinstance(content, str):
        return [new_text_part(content)]
    if isinstance(content, dict):
        return [new_text_part(json.dumps(content)) if data_as_text else new_data_part(content)]
    return [
        item if isinstance(item, Part) else _parts(item, data_as_text=data_as_text)[0]
        for item in content
    ]


class _ScriptedExecutor(AgentExecutor):
    def __init__(
        self,
        reply_fn: ReplyFunction,
        reply_transport: ReplyTransport,
        state: FinalState,
        new_context: bool,
        metadata: Mapping[str, Any] | None,
        update_metadata: Mapping[str, Any] | None,
    ) -> None:
        self._reply_fn = reply_fn
        self._reply_transport = reply_transport
        self._state = state
        self._new_context = new_context
        self._metadata = dict(metadata or {})
        self._update_metadata = dict(update_metadata or {}) or None

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        if context.message is None:
            msg = "a request without a message"
            raise ValueError(msg)
        task = context.current_task or new_task_from_user_message(context.message)
        answer = self._reply_fn(context.get_user_input(), task.context_id)
        content = await answer if inspect.isawaitable(answer) else answer
        parts = _parts(content, data_as_text=self._reply_transport == "artifact_text")
        if self._reply_transport == "message":
            context_id = str(uuid.uuid4()) if self._new_context else task.context_id
            message = new_message(parts, context_id=context_id)
            message.metadata.update(self._metadata)
            await event_queue.enqueue_event(message)
            return
        if context.current_task is None:
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        await self._finish(updater, parts)

    async def _finish(self, updater: TaskUpdater, parts: list[Part]) -> None:
        state = _STATES[self._state]
        if self._reply_transport == "status" or self._state != "completed":
            message = updater.new_agent_message(parts, metadata=self._metadata)
            await updater.update_status(state, message=message, metadata=self._update_metadata)
            return
        if self._reply_transport == "artifact_chunks":
            chunks = [
                new_text_part(part.text[at : at + 4])
                for part in parts
                for at in range(0, len(part.text), 4)
            ]
            for index, chunk in enumerate(chunks):
                await updater.add_artifact(
                    [chunk], artifact_id="reply", append=index > 0, metadata=self._metadata
                )
        else:
            await updater.add_artifact(parts, name="reply", metadata=self._metadata)
        await updater.update_status(state, metadata=self._update_metadata)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        if context.current_task is not None:
            task = context.current_task
            await TaskUpdater(event_queue, task.id, task.context_id).cancel()


def card_route(**options: Any) -> Route:
    """Serves `card_for` the address in the Host header; `options` are those of `card_for`.

    gRPC is where the state of the application says, as `grpc_url`.
    """

    async def card(request: Request) -> Response:
        grpc_url = getattr(request.app.state, "grpc_url", None)
        found = card_for(str(request.base_url), grpc_url=grpc_url, **options)
        return JSONResponse(agent_card_to_dict(found))

    return Route(AGENT_CARD_WELL_KNOWN_PATH, card, methods=["GET"])


def scripted_agent(
    reply_fn: ReplyFunction,
    *,
    reply_transport: ReplyTransport = "artifact_text",
    state: FinalState = "completed",
    name: str = "scripted",
    protocols: Sequence[Protocol] = ("1.0", "0.3"),
    bindings: Sequence[Binding] = ("JSONRPC",),
    streaming: bool = True,
    interface_url: str | None = None,
    new_context: bool = False,
    metadata: Mapping[str, Any] | None = None,
    update_metadata: Mapping[str, Any] | None = None,
) -> Starlette:
    """A real a2a-sdk agent that answers with `reply_fn(text, context_id)`.

    Args:
        reply_fn: Gives a text, a dict (sent as a data part, or as JSON text where the transport is
            `artifact_text`) or a list of these and of a2a parts. May be async.
        reply_transport: Where the reply travels: a task's artifact (text, data, or text in chunks
            of 4 characters), the message of the task's status, or a bare message.
        state: How each task ends. Any but `completed` puts the reply in the status message.
        name: The name in the card.
        protocols: The protocol versions that the card offers.
        bindings: The transports that the card offers. GRPC is served by a port of its own, for as
            long as the lifespan of the application lasts.
        streaming: Whether the card promises streaming.
        interface_url: The address in the card, instead of the real one.
        new_context: With `message`: every reply names a context id that nobody asked for.
        metadata: Go along with the message or the artifact of every reply.
        update_metadata: Go along with the last update of every task's status.
    """
    options: dict[str, Any] = {
        "name": name,
        "protocols": protocols,
        "bindings": bindings,
        "streaming": streaming,
        "interface_url": interface_url,
    }
    handler = DefaultRequestHandler(
        agent_executor=_ScriptedExecutor(
            reply_fn, reply_transport, state, new_context, metadata, update_metadata
        ),
        task_store=InMemoryTaskStore(),
        agent_card=card_for("http://127.0.0.1/", **options),
    )

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            if "GRPC" in bindings:
                serving = serve_grpc(*a2a_servicers(handler))
                app.state.grpc_url = await stack.enter_async_context(serving)
            yield
        await handler.aclose()

    legacy = "0.3" in protocols
    routes = [
        card_route(**options),
        *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=legacy),
        *(
            create_rest_routes(handler, enable_v0_3_compat=legacy)
            if "HTTP+JSON" in bindings
            else ()
        ),
    ]
    return Starlette(routes=routes, lifespan=lifespan)
