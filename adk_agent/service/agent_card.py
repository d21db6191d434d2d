"""The green agent's card."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from a2a.compat.v0_3.conversions import to_compat_agent_card
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentExtension,
    AgentInterface,
    AgentSkill,
    HTTPAuthSecurityScheme,
    SecurityRequirement,
    SecurityScheme,
    StringList,
)
from google.protobuf.json_format import MessageToDict

from adk_agent.core.versions import versions
from adk_agent.service.options import ServiceOptions
from tau_bridge.a2a.extensions import TIMESTAMP_SAMPLE_URI, TIMESTAMP_URI, TRACEABILITY_URI
from tau_bridge.benchmarks import installed

PROTOCOL_VERSIONS = ("1.0", "0.3")
INPUT_MODES = ("text/plain", "application/json", "text/markdown")
OUTPUT_MODES = ("text/plain", "application/json")
BEARER = "bearer"
GRPC = "GRPC"


@cache
def evaluate_skill() -> AgentSkill:
    """Return the main skill, with the examples of the installed benchmarks.

    Their data are not opened: the card is made before anything is loaded that takes long.
    """
    found, _ = installed()
    benchmarks = sorted(found, key=lambda each: (each.position, each.name))
    return AgentSkill(
        id="evaluate-agents",
        name="Evaluate agents",
        description=(
            "Plays the tasks of benchmarks against A2A agents, and reports their scores with "
            "pass^k, latency, and what could not be measured. A request without a known domain is "
            "answered with those that are installed."
        ),
        tags=["evaluation", "green-agent", *(each.name for each in benchmarks if each.examples)],
        examples=[example for each in benchmarks for example in each.examples],
    )


TEAMS = AgentSkill(
    id="evaluate-teams",
    name="Evaluate how a team works together",
    description=(
        "Gives a team of agents an exercise, or a benchmark task, and judges its coordination: "
        "hand-offs, repeated work, lost information, and who held the others up."
    ),
    tags=["teamwork", "multi-agent", "traceability"],
    examples=[
        "Evaluate the team at http://localhost:9010 on all <domain> tasks",
        "Evaluate team:star5 on two <domain> tasks",
    ],
)
ASSESSMENT = AgentSkill(
    id="agentbeats-assessment",
    name="AgentBeats assessment",
    description=(
        "Takes an assessment request of the AgentBeats platform as JSON, and answers with one row "
        "for its leaderboard."
    ),
    tags=["agentbeats", "leaderboard"],
    examples=[
        (
            '{"participants": {"agent": "http://localhost:9010"}, '
            '"config": {"domain": "<domain>", "num_tasks": 5}}'
        ),
    ],
    input_modes=["text/plain", "application/json"],
)
FOLLOW_UPS = AgentSkill(
    id="follow-ups",
    name="Talk about evaluations",
    description=(
        "Answers questions about the evaluations of the same context, repeats them with changes, "
        "compares and exports them, lists what can be played, and explains what a report says. It "
        "asks back (input-required) before it plays what is doubtful or very large."
    ),
    tags=["conversation"],
    examples=[
        "What can you do?",
        "List the domains",
        "status?",
        "cancel it",
        "Show the results",
        "Why did they fail?",
        "Run the failed ones again",
        "The same with three trials",
        "Compare the last two runs",
        "What is pass^k?",
        "Export it as junit",
    ],
    output_modes=[*OUTPUT_MODES, "text/markdown", "text/html", "text/csv", "application/xml"],
)


def build_card(
    url: str, *, version: str, grpc_url: str | None = None, needs_token: bool = False
) -> AgentCard:
    """Build the card of a green agent that clients reach at `url`.

    Args:
        url: An http or https address. A path in it is kept: that of a proxy, for instance.
        version: The program's.
        grpc_url: `host:port` of the gRPC interface, where there is one.
        needs_token: Whether callers need a bearer token.
    """
    card = AgentCard(
        name="Greenroom",
        description=(
            "A green agent (assessor): plays the tasks of benchmarks against A2A agents and reports "
            "scores that name their data, their versions and what they lack."
        ),
        version=version,
        capabilities=AgentCapabilities(
            streaming=True, push_notifications=True, extensions=_extensions()
        ),
        default_input_modes=list(INPUT_MODES),
        default_output_modes=list(OUTPUT_MODES),
        supported_interfaces=list(_interfaces(url, grpc_url)),
        skills=[evaluate_skill(), TEAMS, ASSESSMENT, FOLLOW_UPS],
    )
    if needs_token:
        card.security_schemes[BEARER].CopyFrom(
            SecurityScheme(http_auth_security_scheme=HTTPAuthSecurityScheme(scheme="Bearer"))
        )
        card.security_requirements.append(SecurityRequirement(schemes={BEARER: StringList()}))
    return card


def service_card(card_url: str, options: ServiceOptions) -> AgentCard:
    """Build the card of the service that is reached at `card_url`."""
    return build_card(
        card_url,
        version=versions()["greenroom"],
        grpc_url=options.grpc.shown if options.grpc else None,
        needs_token=bool(options.callers),
    )


def card_json(card: AgentCard) -> dict[str, Any]:
    """Return the card as JSON for clients of both protocol versions.

    The same as a2a-sdk's `agent_card_to_dict`, whose module takes a second to import.
    """
    found: dict[str, Any] = MessageToDict(card)
    _fill_in(found, to_compat_agent_card(card).model_dump(exclude_none=True))
    if not found.get("supportsAuthenticatedExtendedCard"):
        found.pop("supportsAuthenticatedExtendedCard", None)
    return found


def _fill_in(known: dict[str, Any], further: dict[str, Any]) -> None:
    """Add what `known` lacks, in its objects and in those of its lists too."""
    for key, value in further.items():
        present = known.setdefault(key, value)
        if isinstance(value, list):
            pairs = list(zip(present, value, strict=False))
        else:
            pairs = [(present, value)]
        for one, other in pairs:
            if isinstance(other, dict) and one is not other:
                _fill_in(one, other)


def _interfaces(url: str, grpc_url: str | None) -> Iterator[AgentInterface]:
    """Both versions of every binding, JSON-RPC first: the first is the preferred one."""
    # Clients append to the address of HTTP+JSON as it stands, so that has no slash at its end.
    bindings = [("JSONRPC", url), ("HTTP+JSON", url.rstrip("/"))]
    if grpc_url is not None:
        bindings.append((GRPC, grpc_url))
    for protocol in PROTOCOL_VERSIONS:
        for binding, address in bindings:
            yield AgentInterface(url=address, protocol_binding=binding, protocol_version=protocol)


def _extensions() -> list[AgentExtension]:
    timestamps = "Timestamps on messages and artifacts"
    return [
        AgentExtension(uri=TRACEABILITY_URI, description="Traces of every interaction"),
        AgentExtension(uri=TIMESTAMP_URI, description=timestamps),
        AgentExtension(uri=TIMESTAMP_SAMPLE_URI, description=timestamps),
    ]
