"""Serving agents by gRPC on loopback ports. It needs the extra `grpc`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import grpc
    from a2a.server.request_handlers import RequestHandler

Register: TypeAlias = "Callable[[grpc.aio.Server], None]"
"""Adds a service to a server."""


@contextlib.asynccontextmanager
async def serve_grpc(
    *services: Register, tls: grpc.ServerCredentials | None = None, **options: Any
) -> AsyncIterator[str]:
    """Serve services on a free loopback port, in this event loop; yields their address.

    Args:
        services: What is served.
        tls: The server's certificate; without TLS by default.
        options: Arguments of `grpc.aio.server`.
    """
    import grpc

    server = grpc.aio.server(**options)
    for register in services:
        register(server)
    if tls is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        port = server.add_secure_port("127.0.0.1:0", tls)
    await server.start()
    try:
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{port}"
    finally:
        await server.stop(None)


def a2a_servicers(handler: RequestHandler) -> tuple[Register, Register]:
    """A2A's services of protocols 1.0 and 0.3, answered by a handler of a2a-sdk."""
    from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
    from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
    from a2a.server.request_handlers.grpc_handler import GrpcHandler
    from a2a.types import a2a_pb2_grpc

    # Generated code has no types.
    current: Any = a2a_pb2_grpc.add_A2AServiceServicer_to_server
    legacy: Any = a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server
    return (
        lambda server: current(GrpcHandler(handler), server),
        lambda server: legacy(CompatGrpcHandler(handler), server),
    )
