"""Peers: how an agent is told of the other agents of its team, and where it reaches them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

PEERS_KEY: Final = "greenroom.peers"
"""Message metadata: the addresses of the other members by role."""


def peer_lines(peers: Mapping[str, str]) -> str:
    """Return the lines about its team that follow a message to an agent; empty without peers.

    Args:
        peers: The addresses of the other members by role.
    """
    if not peers:
        return ""
    lines = [f"- {name}: {url}" for name, url in sorted(peers.items())]
    return "\n\nYou can ask the other agents of your team over A2A:\n" + "\n".join(lines)
