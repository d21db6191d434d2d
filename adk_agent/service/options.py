"""What is chosen for the edge of the service. Light: the command line reads it before it serves."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from adk_agent.core.errors import RequestError
from adk_agent.service.callers import Callers
from adk_agent.service.limits import RequestLimits
from tau_bridge.a2a.extensions import REQUESTED_EXTENSIONS


@dataclass(frozen=True, kw_only=True)
class TaskStoreChoice:
    """`memory`, or `sqlite` with the path of its file."""

    kind: Literal["memory", "sqlite"]
    path: Path | None = None

    @classmethod
    def parse(cls, text: str) -> TaskStoreChoice:
        """Parse `memory` or `sqlite:PATH`.

        Raises:
            RequestError: It is neither.
        """
        kind, colon, path = text.partition(":")
        if text == "memory":
            return cls(kind="memory")
        if kind == "sqlite" and colon and path.strip():
            return cls(kind="sqlite", path=Path(path))
        raise RequestError(f"{text!r} is no task store: write memory, or sqlite:PATH")

    @classmethod
    def argument(cls, text: str) -> TaskStoreChoice:
        """Parse an argument of the command line."""
        try:
            return cls.parse(text)
        except RequestError as error:
            raise argparse.ArgumentTypeError(str(error)) from error


MEMORY = TaskStoreChoice(kind="memory")


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
    activated: frozenset[str] = frozenset(REQUESTED_EXTENSIONS)
