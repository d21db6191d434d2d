"""Renders a tool's result as the text that its caller reads, by the official rules."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

from pydantic import BaseModel

from tau_bridge.errors import HarnessError
from tau_bridge.tau2.tables import dump


def render(value: Any) -> str:
    """Render text as it is, and anything else as JSON.

    Models are dumped with their types; a number outside of a model becomes text.

    Raises:
        HarnessError: A tool returned something that has no rendering.
    """
    if isinstance(value, str):
        return value
    return json.dumps(_plain(value), default=str)


def _plain(value: Any) -> Any:
    match value:
        case BaseModel():
            return dump(value)
        case str() | None:
            return value
        case int() | float():
            return str(value)
        case list() | tuple():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case date():
            return value.isoformat()
        case _:
            raise HarnessError(
                f"a tool returned a {type(value).__name__}, which cannot be shown to its caller"
            )
