"""service_card: the card that goes with the options of a service."""

from __future__ import annotations

from a2a.types import AgentCard

from adk_agent.card import build_card
from adk_agent.service.options import ServiceOptions
from adk_agent.versions import versions


def service_card(card_url: str, options: ServiceOptions) -> AgentCard:
    """The card of the service that is reached at `card_url`."""
    return build_card(
        card_url,
        version=versions()["greenroom"],
        grpc_url=options.grpc.shown if options.grpc else None,
        needs_token=bool(options.callers),
    )
