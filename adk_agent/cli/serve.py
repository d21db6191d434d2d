"""`greenroom serve`, and `python -m adk_agent`."""

from __future__ import annotations

import argparse
import socket

from adk_agent.cli.edge import OK
from adk_agent.errors import PreflightError
from adk_agent.settings import Settings


def execute(parsed: argparse.Namespace) -> int:
    """Serve the green agent until interrupted."""
    settings = Settings.load()
    port = settings.port if parsed.port is None else parsed.port
    _make_sure_that_free(parsed.host, port)
    from adk_agent.assembly import Assembly
    from adk_agent.server import serve

    serve(Assembly(settings=settings), host=parsed.host, port=port, card_url=parsed.card_url)
    return OK


def _make_sure_that_free(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            msg = f"cannot listen on {host}:{port}: {error.strerror}; choose another --port"
            raise PreflightError(msg) from error
