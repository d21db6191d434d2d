"""A bundled agent as a real A2A server: JSON-RPC, protocols 1.0 and 0.3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.types import AgentCard
from starlette.applications import Starlette

from purple_agent.card import CUSTOMER_SERVICE, agent_card
from purple_agent.catalogue import DESCRIPTIONS, LEAKY_CONTEXT, REFERENCE, build_agent
from purple_agent.handler import MessageHandler
from purple_agent.leaky import SHARED_CONTEXT
from purple_agent.settings import ReferenceSettings

if TYPE_CHECKING:
    from purple_agent.oracle import GoldScript


def build_app(
    name: str,
    *,
    card_url: str,
    scripts: Mapping[str, GoldScript] | None = None,
    streaming: bool = False,
    settings: ReferenceSettings | None = None,
) -> Starlette:
    """Build the ASGI application of one bundled agent; the server must run its lifespan.

    Args:
        name: A name of the catalogue.
        card_url: The address in the card, at which callers reach it.
        scripts: The oracle's gold scripts; ignored by the other agents.
        streaming: Offer and serve streams. A reply is one message either way, and a stream takes
            about twice the CPU.
        settings: The reference agent's settings; ignored by the others.

    Raises:
        UnknownAgentError: No bundled agent has this name.
        GoldScriptError: The oracle needs scripts.
    """
    if name == REFERENCE:
        from purple_agent.reference.server import build_reference_app

        chosen = settings or ReferenceSettings()
        return build_reference_app(chosen, card_url=card_url, streaming=streaming)
    handler = MessageHandler(
        build_agent(name, scripts=scripts),
        streaming=streaming,
        context_id=SHARED_CONTEXT if name == LEAKY_CONTEXT else None,
    )
    card = build_card(name, card_url=card_url, streaming=streaming)
    return Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        ]
    )


def build_card(name: str, *, card_url: str, streaming: bool = False) -> AgentCard:
    """Build the card of a bundled agent."""
    return agent_card(
        name=f"greenroom {name}",
        description=DESCRIPTIONS[name],
        url=card_url,
        streaming=streaming,
        skills=[CUSTOMER_SERVICE],
    )
