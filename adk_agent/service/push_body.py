"""push_body: what a notification says, in the form of the receiver's protocol version."""

from __future__ import annotations

import json
from typing import Any

from a2a.compat.v0_3.conversions import to_compat_task
from a2a.types import StreamResponse, Task
from google.protobuf.json_format import MessageToDict

from adk_agent.service.integers import restore_integers


def body_1_0(event: StreamResponse) -> bytes:
    """Return an event as a stream of protocol 1.0 has it."""
    return _json(MessageToDict(event))


def body_0_3(task: Task) -> bytes:
    """Return a whole task, as servers of protocol 0.3 post it after each event.

    Raises:
        ValueError: The task holds what 0.3 has no form for.
    """
    return _json(to_compat_task(task).model_dump(mode="json", by_alias=True, exclude_none=True))


def _json(value: dict[str, Any]) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return restore_integers(text.encode())
