"""The A2A service: JSON-RPC, protocols 1.0 and 0.3."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import uvicorn
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from starlette.applications import Starlette

from adk_agent.assembly import Assembly
from adk_agent.card import build_card
from adk_agent.executor import EvaluationExecutor
from adk_agent.runs import load_report
from adk_agent.versions import versions
from tau_bridge.tau2.domains import load_domain


def build_app(assembly: Assembly, *, card_url: str) -> Starlette:
    """The ASGI application of the green agent.

    Args:
        assembly: What the service is made of.
        card_url: The address that the card names.

    Raises:
        DataFolderError: the task data is not there.
    """
    # A service without data had better not start; what is read is shared by all requests.
    assembly = replace(assembly, source=assembly.open_source())
    card = build_card(card_url, version=versions()["greenroom"])
    handler = DefaultRequestHandler(
        agent_executor=EvaluationExecutor(
            new_root_agent=assembly.root_agent,
            load_report=lambda run_id: load_report(assembly.settings.results_dir, run_id),
            monotonic_s=assembly.runtime.clock.monotonic_s,
        ),
        task_store=InMemoryTaskStore(),
        agent_card=card,
    )

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001 - Starlette's
        yield
        await handler.aclose()

    return Starlette(
        routes=[
            *create_agent_card_routes(card),
            *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        ],
        lifespan=lifespan,
    )


def serve(assembly: Assembly, *, host: str, port: int, card_url: str | None) -> None:
    """Serve until interrupted."""
    source = assembly.open_source()
    for domain in source.domains():
        load_domain(source, domain)  # what takes seconds the first time, before anyone waits
    shown = "127.0.0.1" if host in {"0.0.0.0", "::"} else host  # noqa: S104 - a comparison
    app = build_app(
        replace(assembly, source=source), card_url=card_url or f"http://{shown}:{port}/"
    )
    uvicorn.run(app, host=host, port=port, log_level="info", access_log=False)
