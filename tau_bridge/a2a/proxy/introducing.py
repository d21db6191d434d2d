"""Tells a member the addresses of its peers, in the messages that the proxy passes on to it. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tau_bridge.a2a.peers import PEERS_KEY, peer_lines
from tau_bridge.a2a.proxy.dialects import parsed


def with_peers(body: bytes, peers: Mapping[str, str]) -> bytes:
    """Return a message's request with the addresses of its receiver's peers.

    They stand in the metadata of the message, in place of others under the same key, and as lines
    below its last text. A message that goes on with a task has no lines: those before it had them.
    A body that holds no message is returned as it is, and so is one that JSON could not write
    again, such as a number beyond all bounds.

    Args:
        body: JSON-RPC or HTTP+JSON, of protocol 1.0 or 0.3.
        peers: The addresses that the receiver may use, by role.
    """
    content = parsed(body)
    message = _message_of(content)
    if message is None:
        return body
    metadata = message.get("metadata")
    message["metadata"] = {**(metadata if isinstance(metadata, dict) else {})}
    message["metadata"][PEERS_KEY] = dict(peers)
    if not message.get("taskId") and not message.get("task_id"):
        _add_lines(message, peer_lines(peers))
    try:
        return json.dumps(content, allow_nan=False).encode()
    except ValueError:
        return body


def _message_of(content: Any) -> dict[str, Any] | None:
    if not isinstance(content, dict):
        return None
    params = content.get("params", content)
    if not isinstance(params, dict):
        return None
    message = params.get("message", params.get("request"))
    return message if isinstance(message, dict) else None


def _add_lines(message: dict[str, Any], lines: str) -> None:
    # The HTTP+JSON of protocol 0.3 calls the parts content.
    parts = message.get("parts", message.get("content"))
    for part in reversed(parts if isinstance(parts, list) else []):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            part["text"] += lines
            return
