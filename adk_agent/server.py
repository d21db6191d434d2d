"""The A2A service: JSON-RPC, HTTP+JSON and, where asked for, gRPC; protocols 1.0 and 0.3."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_rest_routes
from a2a.server.tasks import TaskStore
from a2a.types import AgentCard
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from adk_agent.assembly import Assembly
from adk_agent.card import build_card
from adk_agent.executor import build_executor, interrupted_artifact
from adk_agent.service.callers import CARD_PATHS, BearerAuthentication, Callers
from adk_agent.service.contexts import CallContextBuilder, ExtensionEcho
from adk_agent.service.grpc_server import grpc_interface
from adk_agent.service.handling import SafeHandler
from adk_agent.service.jsonrpc import jsonrpc_route
from adk_agent.service.limits import BodyLimit, RequestLimits, protocol_with
from adk_agent.service.push import PushConfigs, PushSender
from adk_agent.service.redaction import redact_logs
from adk_agent.service.stopping import StoppableExecutor
from adk_agent.service.stores import MEMORY, TaskStoreChoice, new_task_store, opened
from adk_agent.service.sweep import ArtifactOf, sweep
from adk_agent.versions import versions
from tau_bridge.a2a.screening import guarded_client, is_allowed
from tau_bridge.tau2.domains import load_domain

logger = logging.getLogger("uvicorn.error")
"""The server's own log, which is shown from INFO on."""

STOP_TIMEOUT_S = 6.0
"""How long running evaluations may take to end when the service stops."""
STREAM_GRACE_S = 7.0
CLOSE_TIMEOUT_S = 1
"""How long connections may then take to close."""

CARD_CACHING = "public, max-age=60"

MakeExecutor = Callable[[TaskStore], AgentExecutor]


@dataclass(frozen=True, kw_only=True)
class GrpcAddress:
    """Where the gRPC interface listens, and the `host:port` that the card names for it."""

    host: str
    port: int
    shown: str


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """What is chosen for the edge of the service.

    Args:
        tasks: Where tasks are kept.
        callers: Who may call.
        limits: Bounds on requests.
        grpc: Where gRPC is served; None: not at all.
        activated: Extensions that the service activates when a client asks for them.
    """

    tasks: TaskStoreChoice = MEMORY
    callers: Callers = field(default_factory=Callers)
    limits: RequestLimits = field(default_factory=RequestLimits)
    grpc: GrpcAddress | None = None
    activated: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Service:
    """An application, and the way to end what it does before its connections are closed.

    `stop` cancels what runs; the tasks say so in the store when it returns.
    """

    app: Starlette
    stop: Callable[[], Awaitable[None]]


def build_service(
    assembly: Assembly,
    *,
    card_url: str,
    options: ServiceOptions | None = None,
    make_executor: MakeExecutor | None = None,
    artifact_of: ArtifactOf | None = None,
) -> Service:
    """The service of the green agent.

    Args:
        assembly: What it is made of.
        card_url: The address that the card names.
        options: What is chosen for its edge.
        make_executor: What works on messages, where that is not the evaluation.
        artifact_of: What tells of a run that was interrupted, where that is not the evaluation.

    Raises:
        DataFolderError: the task data is not there.
        StorageError: the tasks cannot be kept where they should.
    """
    options = options or ServiceOptions()
    if make_executor is None:
        # A service without data had better not start; what is read is shared by all requests.
        assembly = replace(assembly, source=assembly.open_source())
    parts = _Parts.of(assembly, card_url, options, make_executor, artifact_of)

    async def stop() -> None:
        await parts.executor.stop(STOP_TIMEOUT_S)

    app = Starlette(
        routes=parts.routes(),
        middleware=[
            Middleware(ExtensionEcho, supported=options.activated),
            Middleware(BearerAuthentication, callers=options.callers),
            Middleware(BodyLimit, limits=options.limits),
        ],
        lifespan=lambda _: parts.running(),
    )
    return Service(app=app, stop=stop)


def build_app(
    assembly: Assembly, *, card_url: str, options: ServiceOptions | None = None
) -> Starlette:
    """The application of the service; see `build_service`."""
    return build_service(assembly, card_url=card_url, options=options).app


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """What one service consists of."""

    options: ServiceOptions
    card: AgentCard
    store: TaskStore
    executor: StoppableExecutor
    sender: PushSender
    inner: DefaultRequestHandler
    artifact_of: ArtifactOf
    now: Callable[[], datetime]

    @classmethod
    def of(
        cls,
        assembly: Assembly,
        card_url: str,
        options: ServiceOptions,
        make_executor: MakeExecutor | None,
        artifact_of: ArtifactOf | None,
    ) -> _Parts:
        configs = PushConfigs()
        store = new_task_store(options.tasks, on_drop=configs.forget)
        finished = artifact_of or partial(interrupted_artifact, assembly)
        make = make_executor or partial(build_executor, assembly, own_addresses=(card_url,))
        now = assembly.runtime.clock.now
        executor = StoppableExecutor(make(store), store=store, artifact_of=finished, now=now)
        allowed = partial(is_allowed, assembly.network)
        sender = PushSender(configs, guarded_client(assembly.network), allowed)
        card = _card(card_url, options)
        inner = DefaultRequestHandler(
            agent_executor=executor,
            task_store=store,
            agent_card=card,
            push_config_store=configs,
            push_sender=sender,
            push_url_validator=allowed,
            validate_input_modes=True,
        )
        return cls(
            options=options,
            card=card,
            store=store,
            executor=executor,
            sender=sender,
            inner=inner,
            artifact_of=finished,
            now=now,
        )

    def routes(self) -> list[BaseRoute]:
        builder = CallContextBuilder()
        handler = SafeHandler(self.inner)
        cards = [
            create_agent_card_routes(self.card, card_url=path, cache_control=CARD_CACHING)
            for path in CARD_PATHS
        ]
        rest = create_rest_routes(
            handler, builder, enable_v0_3_compat=True, shutdown_grace_period=STREAM_GRACE_S
        )
        rpc = jsonrpc_route(handler, context_builder=builder, shutdown_grace_s=STREAM_GRACE_S)
        return [*(route for routes in cards for route in routes), rpc, *rest]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            await stack.enter_async_context(opened(self.store, self.options.tasks))
            stack.push_async_callback(self.sender.aclose)
            await sweep(self.store, self.artifact_of, self.now)
            stack.push_async_callback(self.inner.aclose)
            if self.options.grpc is not None:
                await stack.enter_async_context(self._grpc(self.options.grpc))
            yield

    def _grpc(self, at: GrpcAddress) -> AbstractAsyncContextManager[int]:
        return grpc_interface(
            SafeHandler(self.inner),
            host=at.host,
            port=at.port,
            callers=self.options.callers,
            limits=self.options.limits,
        )


def _card(card_url: str, options: ServiceOptions) -> AgentCard:
    return build_card(
        card_url,
        version=versions()["greenroom"],
        grpc_url=options.grpc.shown if options.grpc else None,
        needs_token=bool(options.callers),
    )


class StoppingServer(uvicorn.Server):
    """Ends what runs before it closes connections, so that everybody hears how it ended."""

    def __init__(self, config: uvicorn.Config, stop: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._stop = stop

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, end the work, and close what is open."""
        for server in self.servers:
            server.close()
        await self._stop()
        await super().shutdown(sockets)


def serve(
    assembly: Assembly,
    listener: socket.socket,
    *,
    card_url: str,
    options: ServiceOptions | None = None,
) -> None:
    """Serve until SIGTERM, or until interrupted.

    Args:
        assembly: What the service is made of.
        listener: A bound socket.
        card_url: The address that the card names.
        options: What is chosen for the edge.

    Raises:
        KeyboardInterrupt: it was interrupted.
        GreenroomError: the service cannot start.
    """
    options = options or ServiceOptions()
    source = assembly.open_source()
    for domain in source.domains():
        load_domain(source, domain)  # what takes seconds the first time, before anyone waits
    service = build_service(replace(assembly, source=source), card_url=card_url, options=options)
    config = server_config(service.app, options.limits)
    redact_logs([*options.callers.tokens, *assembly.secrets()])
    logger.info("Greenroom listens on %s; its card names %s", _shown(listener), card_url)
    # uvicorn raises the signal that ended it once more: SIGTERM is how a service is meant to end.
    previous = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        StoppingServer(config, service.stop).run(sockets=[listener])
    finally:
        signal.signal(signal.SIGTERM, previous)


def server_config(app: Starlette, limits: RequestLimits) -> uvicorn.Config:
    """How uvicorn serves the application within the limits."""
    return uvicorn.Config(
        app,
        http=protocol_with(limits),
        ws="none",
        lifespan="on",
        log_level="info",
        access_log=False,  # addresses and queries may hold what nobody else should read
        server_header=False,
        limit_concurrency=limits.connections,
        h11_max_incomplete_event_size=limits.header_bytes,
        timeout_graceful_shutdown=CLOSE_TIMEOUT_S,
    )


def _shown(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
