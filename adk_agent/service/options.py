"""Options of the service's edge. Light: the command line reads them before it serves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from adk_agent.core.errors import RequestError
from adk_agent.service.callers import Callers
from adk_agent.service.limits import RequestLimits
from tau_bridge.a2a.extensions import REQUESTED_EXTENSIONS


def parse_task_store(text: str) -> Path | None:
    """Return the file in `sqlite:PATH`; None for `memory`.

    Raises:
        RequestError: It is neither.
    """
    if text == "memory":
        return None
    kind, _, path = text.partition(":")
    if kind == "sqlite" and path.strip():
        return Path(path)
    raise RequestError(f"{text!r} is no task store: write memory, or sqlite:PATH")


@dataclass(frozen=True, kw_only=True)
class GrpcAddress:
    """The address of the gRPC interface, and the `host:port` that the card names for it."""

    host: str
    port: int
    shown: str


@dataclass(frozen=True, kw_only=True)
class ServiceOptions:
    """The choices for the edge of the service.

    Args:
        tasks: The SQLite file that keeps the tasks; None: memory does.
        callers: Who may call.
        limits: Bounds on requests.
        grpc: Where gRPC is served; None: not at all.
        activated: Extensions that the service activates when a client asks for them.
    """

    tasks: Path | None = None
    callers: Callers = field(default_factory=Callers)
    limits: RequestLimits = field(default_factory=RequestLimits)
    grpc: GrpcAddress | None = None
    activated: frozenset[str] = frozenset(REQUESTED_EXTENSIONS)
