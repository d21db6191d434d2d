"""Histories of no messages, which a2a-sdk loses on the way from protocol 0.3.

It takes a `historyLength` of 0 for none, and answers with the whole history.
"""

from __future__ import annotations

from typing import Any

from a2a.server.context import ServerCallContext
from a2a.types import GetTaskRequest, SendMessageConfiguration
from starlette.requests import Request

_STATE = "no_history"
_LENGTH = "historyLength"


def asks_for_no_history(params: Any) -> bool:
    """Tell whether the params of a JSON-RPC request ask for a history of no messages."""
    if not isinstance(params, dict):
        return False
    configuration = params.get("configuration")
    lengths = [params.get(_LENGTH)]
    if isinstance(configuration, dict):
        lengths.append(configuration.get(_LENGTH))
    return any(length == 0 and length is not False for length in lengths)


def note_history(request: Request, context: ServerCallContext) -> None:
    """Note in the context of a call that its request asks for a history of no messages."""
    in_query = request.query_params.get(_LENGTH) == "0"
    context.state[_STATE] = in_query or getattr(request.state, _STATE, False)


def with_history(
    wanted: GetTaskRequest | SendMessageConfiguration, context: ServerCallContext
) -> None:
    """Put the length back that was noted."""
    if context.state.get(_STATE, False):
        wanted.history_length = 0
