"""The A2A agent around a plain function: an ASGI application, called in this process."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from a2a.helpers import new_text_message
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Task,
    TaskState,
)
from starlette.applications import Starlette
from starlette.responses import Response

# The bundled agents' handler: a function replies with one message as they do, and has no tasks.
from purple_agent.handler import TasklessHandler

if TYPE_CHECKING:
    from a2a.server.context import ServerCallContext
    from starlette.types import ASGIApp, Receive, Scope, Send

    from greenroom.calling import FunctionCaller


class _Handler(TasklessHandler):
    def __init__(self, caller: FunctionCaller) -> None:
        super().__init__()
        self._caller = caller

    async def answer(self, message: Message, context: ServerCallContext) -> Task | Message:  # noqa: ARG002 - the base class's signature
        """Return the function's answer, or a failed task that says why there is none."""
        text = "\n".join(part.text for part in message.parts if part.HasField("text"))
        context_id = message.context_id or str(uuid.uuid4())
        answer = await self._caller.call(text, context_id)
        if answer.problem is not None:
            return self.end(TaskState.TASK_STATE_FAILED, answer.problem, context_id=context_id)
        return new_text_message(answer.text, context_id=context_id)


def function_app(caller: FunctionCaller, *, name: str) -> ASGIApp:
    """Return the application of a function."""
    card = AgentCard(
        name=name,
        description="A Python function.",
        version="1",
        capabilities=AgentCapabilities(streaming=False),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        supported_interfaces=[
            AgentInterface(url="/", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        skills=[AgentSkill(id="reply", name="Reply", description="Replies.", tags=["function"])],
    )
    app = Starlette(
        routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(_Handler(caller), "/")]
    )

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        # An agent that another one keeps from answering is not to blame: it seems not to be there.
        if scope["method"] == "GET" and await caller.is_kept_waiting():
            await Response(status_code=503)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return answering
