"""A system under test for the A2A compatibility kit: `python -m tests.compatibility.server`.

The edge is the product's own, built by the same function; only the work behind it is that of
`executor`. With `--bare` it is a2a-sdk's routes and nothing of ours, for comparison.
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

import uvicorn
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import (
    create_agent_card_routes,
    create_jsonrpc_routes,
    create_rest_routes,
)
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore
from starlette.applications import Starlette

from adk_agent.assembly import Assembly
from adk_agent.card import build_card
from adk_agent.server import build_service
from adk_agent.service.listening import bound_socket
from adk_agent.service.options import GrpcAddress, ServiceOptions
from adk_agent.service.sweep import nothing
from adk_agent.serving import StoppingServer, server_config
from adk_agent.settings import Settings
from tests.compatibility.executor import ByMessageId


def ours(address, grpc_port):
    """The product's edge around the kit's executor."""
    grpc = None
    if grpc_port is not None:
        grpc = GrpcAddress(host="127.0.0.1", port=grpc_port, shown=f"127.0.0.1:{grpc_port}")
    options = ServiceOptions(grpc=grpc)
    results = Path(tempfile.mkdtemp(prefix="compatibility-"))
    service = build_service(
        Assembly(settings=Settings.load(results_dir=results)),
        card_url=address,
        options=options,
        make_executor=lambda store: ByMessageId(),
        artifact_of=nothing,
    )
    return StoppingServer(server_config(service.app, options.limits), service.stop)


def bare(address):
    """a2a-sdk's edge around the kit's executor."""
    card = build_card(address, version="1")
    handler = DefaultRequestHandler(
        agent_executor=ByMessageId(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=InMemoryPushNotificationConfigStore(),
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        *create_rest_routes(handler, enable_v0_3_compat=True),
    ]
    return uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="info"))


def main():
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=9999, help="0: a free one, which is printed")
    parser.add_argument("--grpc-port", type=int, help="serve gRPC too")
    parser.add_argument("--bare", action="store_true", help="a2a-sdk's own edge")
    parsed = parser.parse_args()
    listener = bound_socket("127.0.0.1", parsed.port)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    print(address, flush=True)  # noqa: T201 - the answer of --port 0
    server = bare(address) if parsed.bare else ours(address, parsed.grpc_port)
    asyncio.run(server.serve(sockets=[listener]))


if __name__ == "__main__":
    main()
