"""The green agent's card."""

from __future__ import annotations

from a2a.types import AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentSkill

from tau_bridge.a2a.extensions import TIMESTAMP_URI, TRACEABILITY_URI

PROTOCOL_VERSIONS = ("1.0", "0.3")
EXAMPLES = (
    "Evaluate the agent at http://localhost:9010 on five airline tasks, two trials each",
    "Evaluate the bundled oracle and null agents on all retail tasks",
    (
        '{"participants": {"agent": "http://localhost:9010"}, '
        '"config": {"domain": "airline", "num_tasks": 5}}'
    ),
)


def build_card(url: str, *, version: str) -> AgentCard:
    """The card of a green agent that callers reach at `url`."""
    return AgentCard(
        name="Greenroom",
        description=(
            "A green agent (assessor): plays τ²-bench tasks against A2A agents and reports "
            "scores that name their data, their versions and what they lack."
        ),
        version=version,
        capabilities=AgentCapabilities(
            streaming=True,
            extensions=[
                AgentExtension(uri=TRACEABILITY_URI, description="Traces of every interaction"),
                AgentExtension(uri=TIMESTAMP_URI, description="Timestamps on messages"),
            ],
        ),
        default_input_modes=["text/plain", "application/json"],
        default_output_modes=["text/plain", "application/json"],
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=protocol)
            for protocol in PROTOCOL_VERSIONS
        ],
        skills=[
            AgentSkill(
                id="evaluate-agents",
                name="Evaluate agents",
                description="Evaluates A2A agents on τ²-bench tasks, from a sentence or JSON.",
                tags=["evaluation", "tau2-bench", "green-agent"],
                examples=list(EXAMPLES),
            )
        ],
    )
