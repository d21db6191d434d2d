"""The reference agent as an ASGI application: A2A 1.0 and 0.3, `/health`, `/ready`, `tasks/send`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any

from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.types import AgentCard, AgentExtension, AgentSkill
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route

from purple_agent.card import CUSTOMER_SERVICE, agent_card
from purple_agent.case import Incoming
from purple_agent.extension_headers import EitherHeader
from purple_agent.reference.bodies import BodyLimit
from purple_agent.reference.handler import ReferenceHandler
from purple_agent.reference.shim import TasksSend
from purple_agent.reference.wiring import build_agent
from purple_agent.teams.tracing import TRACEABILITY_URI

if TYPE_CHECKING:
    from starlette.requests import Request

    from purple_agent.reference.agent import ReferenceAgent
    from purple_agent.settings import ReferenceSettings

logger = logging.getLogger(__name__)

NAME = "reference"
SHIM_CONTEXTS = "tasks-send:"
"""Prefix of the session ids of `tasks/send`, to keep them apart from A2A contexts."""


def build_reference_app(
    settings: ReferenceSettings, *, card_url: str, streaming: bool = False
) -> Starlette:
    """Build the ASGI application of the reference agent; the server must run its lifespan.

    Args:
        settings: The agent's settings.
        card_url: The address in its card.
        streaming: Offer streams; a reply is one message either way.
    """
    agent = build_agent(settings)

    async def reply_to_older(text: str, session_id: str, metadata: Mapping[str, Any]) -> str:
        context_id = f"{SHIM_CONTEXTS}{session_id}"
        incoming = Incoming(context_id=context_id, message_id="", text=text, metadata=metadata)
        return (await agent.reply(incoming)).answer.text

    @contextlib.asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        app.state.preparing = asyncio.create_task(_prepared(agent))
        try:
            yield
        finally:
            await asyncio.wait({app.state.preparing})
            await agent.aclose()

    older = [Middleware(TasksSend, reply=reply_to_older)] if settings.tasks_send else []
    card = reference_card(settings, card_url=card_url, streaming=streaming)
    return Starlette(
        routes=[
            Route("/health", _health),
            Route("/ready", _ready),
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(
                ReferenceHandler(agent, streaming=streaming),
                "/",
                context_builder=EitherHeader(),
                enable_v0_3_compat=True,
            ),
        ],
        middleware=[Middleware(BodyLimit), *older],
        lifespan=running,
    )


def reference_card(
    settings: ReferenceSettings, *, card_url: str, streaming: bool = False
) -> AgentCard:
    """Build the card, which names the language model, if any."""
    thinks = "deterministic, without a language model"
    if settings.primary is not None:
        thinks = f"with the language model {settings.primary.name}"
    process = AgentSkill(
        id="business-process",
        name="Business processes",
        description="Expenses, procurement, disputes and others, by a policy and tools that come "
        "with the request's metadata (policy_doc, tools_endpoint, session_id).",
        tags=["business-process"],
    )
    return agent_card(
        name=f"greenroom {NAME}",
        description=f"A business-process agent in ten stages, {thinks}.",
        url=card_url,
        streaming=streaming,
        skills=[process, CUSTOMER_SERVICE],
        extensions=[AgentExtension(uri=TRACEABILITY_URI, description="Reports its steps.")],
    )


async def _prepared(agent: ReferenceAgent) -> None:
    try:
        await agent.prepare()
    except Exception:
        logger.exception("loading the reference agent failed")
        raise


def _health(_request: Request) -> JSONResponse:
    """Report that the process is alive."""
    return JSONResponse({"status": "ok"})


def _ready(request: Request) -> JSONResponse:
    """Report whether loading is finished, so that replies come without delay."""
    preparing: asyncio.Task[None] = request.app.state.preparing
    if not preparing.done():
        return JSONResponse({"status": "loading"}, status_code=503)
    if preparing.cancelled() or preparing.exception() is not None:
        return JSONResponse({"status": "failed"}, status_code=503)
    return JSONResponse({"status": "ready"})
