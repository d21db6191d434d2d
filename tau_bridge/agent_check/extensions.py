"""Checks which extensions of A2A an agent declares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_bridge.a2a.extensions import REQUESTED_EXTENSIONS, TRACEABILITY_URI
from tau_bridge.agent_check.findings import Finding, ok, quote, warning

if TYPE_CHECKING:
    from a2a.types import AgentCard


def check_extensions(card: AgentCard) -> list[Finding]:
    """Return what the declared extensions mean for an evaluation."""
    declared = card.capabilities.extensions
    required = [
        each.uri for each in declared if each.required and each.uri not in REQUESTED_EXTENSIONS
    ]
    return [
        *(
            warning(
                f"it requires the extension {quote(uri)}, which is not activated",
                "answer clients without it too, or they are refused",
            )
            for uri in required
        ),
        _traceability(any(each.uri == TRACEABILITY_URI for each in declared)),
    ]


def _traceability(declared: bool) -> Finding:
    if declared:
        return ok("Traceability: the calls that it reports are part of the trace")
    return ok("no Traceability: a single agent is visible, so coordination is not measured")
