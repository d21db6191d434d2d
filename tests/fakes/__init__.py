"""Fakes that work: real A2A agents on loopback ports, well-behaved and hostile ones.

    with serve(scripted_agent(lambda text, context_id: "hello")) as url:
        ...

`scripted_agent` is an a2a-sdk server; the hostile ones answer as no agent should. Every one is an
ASGI app without global state. The addresses in the cards follow the Host header of the request, so
that no app needs to know its port.
"""

from tests.fakes.agents import (
    card_for,
    card_route,
    scripted_agent,
)
from tests.fakes.hostile import (
    auth_required,
    cancels,
    changes_context,
    drops_connection,
    ends_early,
    fails,
    gzip_bomb,
    hanging_card,
    hangs,
    http_500,
    http_status,
    huge,
    invalid_card,
    jsonrpc_error,
    keeps_stream_open,
    never_ends,
    raw_agent,
    raw_grpc_agent,
    rejects,
    says,
    sse,
    task_event,
)
from tests.fakes.racing import RacingAgent, drops_kept_connections
from tests.fakes.serving import RequestLog, SeenRequest, closed_port, serve

__all__ = [
    "RacingAgent",
    "RequestLog",
    "SeenRequest",
    "auth_required",
    "cancels",
    "card_for",
    "card_route",
    "changes_context",
    "closed_port",
    "drops_connection",
    "drops_kept_connections",
    "ends_early",
    "fails",
    "gzip_bomb",
    "hanging_card",
    "hangs",
    "http_500",
    "http_status",
    "huge",
    "invalid_card",
    "jsonrpc_error",
    "keeps_stream_open",
    "never_ends",
    "raw_agent",
    "raw_grpc_agent",
    "rejects",
    "says",
    "scripted_agent",
    "serve",
    "sse",
    "task_event",
]
