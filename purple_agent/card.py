"""Agent cards of the bundled agents."""

from __future__ import annotations

from collections.abc import Sequence

from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentSkill,
)

CUSTOMER_SERVICE = AgentSkill(
    id="customer-service",
    name="Customer service",
    description="Plays the agent of τ²-bench tasks over the τ² text wire.",
    tags=["tau2-bench"],
)


def agent_card(
    *,
    name: str,
    description: str,
    url: str,
    streaming: bool,
    skills: Sequence[AgentSkill],
    extensions: Sequence[AgentExtension] = (),
) -> AgentCard:
    """Return a card with an interface for each protocol version, the newer one first."""
    return AgentCard(
        name=name,
        description=description,
        version="1",
        capabilities=AgentCapabilities(streaming=streaming, extensions=extensions),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=version)
            for version in ("1.0", "0.3")
        ],
        skills=skills,
    )
