"""The gRPC interface, for protocols 1.0 and 0.3. It needs the extra `grpc`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from a2a.server.request_handlers.request_handler import RequestHandler

from adk_agent.core.errors import PreflightError, RequestError
from adk_agent.service.callers import Callers
from adk_agent.service.limits import RequestLimits

if TYPE_CHECKING:
    import grpc

MISSING = (
    "--grpc-port needs the extra grpc, which is not installed: pip install 'greenroom[grpc]', or "
    "leave the flag out"
)
VERSION_KEY = "a2a-version"
"""Metadata by which a caller says which version of the protocol it speaks."""
_STOP_S = 1.0


def make_sure_that_installed() -> None:
    """Do nothing where gRPC is installed.

    Raises:
        RequestError: It is not.
    """
    try:
        import grpc  # noqa: F401 - only whether it is there
    except ImportError as error:
        raise RequestError(MISSING) from error


@asynccontextmanager
async def grpc_interface(
    handler: RequestHandler, *, host: str, port: int, callers: Callers, limits: RequestLimits
) -> AsyncIterator[int]:
    """Serve the handler while the block lasts; yields the port, which is a free one for 0.

    Raises:
        PreflightError: The port cannot be listened on.
        RequestError: gRPC is not installed.
    """
    make_sure_that_installed()
    import grpc
    from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
    from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
    from a2a.server.request_handlers.grpc_handler import GrpcHandler
    from a2a.types import a2a_pb2_grpc

    server = grpc.aio.server(
        interceptors=[_authentication(callers)] if callers else [],
        options=[
            ("grpc.max_receive_message_length", limits.body_bytes),
            ("grpc.max_metadata_size", limits.header_bytes),
            ("grpc.so_reuseport", 0),
        ],
        maximum_concurrent_rpcs=limits.connections,
    )
    registrations: Any = (
        (a2a_pb2_grpc, GrpcHandler, "1"),
        (a2a_v0_3_pb2_grpc, CompatGrpcHandler, "0"),
    )
    for generated, servicer, major in registrations:  # generated code has no types
        builder = _context_builder(callers, major)
        generated.add_A2AServiceServicer_to_server(servicer(handler, builder), server)
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        bound = server.add_insecure_port(where)
    except RuntimeError as error:
        raise PreflightError(
            f"cannot listen on {where} for gRPC; choose another --grpc-port"
        ) from error
    await server.start()
    try:
        yield bound
    finally:
        await server.stop(_STOP_S)


def _authorization(metadata: Any) -> list[str]:
    values = [value for key, value in metadata or () if key.lower() == "authorization"]
    return [value if isinstance(value, str) else value.decode("latin-1") for value in values]


def _context_builder(callers: Callers, major: str) -> Any:
    """Build what makes the contexts of calls to the interface of one protocol version.

    A call that states a version of another number is refused; one that states none is welcome.
    """
    from a2a.auth.user import UnauthenticatedUser, User
    from a2a.compat.v0_3.context_builders import V03GrpcServerCallContextBuilder
    from a2a.server.context import ServerCallContext
    from a2a.server.request_handlers.grpc_handler import DefaultGrpcServerCallContextBuilder
    from a2a.utils.errors import VersionNotSupportedError

    class Builder(DefaultGrpcServerCallContextBuilder):
        def build_user(self, context: grpc.aio.ServicerContext[Any, Any]) -> User:
            caller = callers.caller(_authorization(context.invocation_metadata()))
            return caller or UnauthenticatedUser()

        def build(self, context: grpc.aio.ServicerContext[Any, Any]) -> ServerCallContext:
            stated = dict(context.invocation_metadata() or ()).get(VERSION_KEY)
            if stated and str(stated).partition(".")[0] != major:
                raise VersionNotSupportedError
            return super().build(context)

    return V03GrpcServerCallContextBuilder(Builder())


def _authentication(callers: Callers) -> Any:
    import grpc

    async def refuse(_: object, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        await context.abort(
            grpc.StatusCode.UNAUTHENTICATED, "send a valid token: authorization: Bearer <token>"
        )

    refusal: Any = grpc.unary_unary_rpc_method_handler(refuse)

    class Authentication(grpc.aio.ServerInterceptor):
        async def intercept_service(
            self,
            continuation: Callable[[Any], Awaitable[Any]],
            handler_call_details: Any,
        ) -> Any:
            given = _authorization(handler_call_details.invocation_metadata)
            return (
                refusal
                if callers.caller(given) is None
                else await continuation(handler_call_details)
            )

    return Authentication()
