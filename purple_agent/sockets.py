"""The sockets of bundled agents. Without heavy imports, so that errors are reported early."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from purple_agent.errors import ListenError

BACKLOG = 2048
"""Connections that may wait: enough for a run that opens hundreds at once."""
WILDCARDS = frozenset({"0.0.0.0", "::", ""})  # noqa: S104 - compared with, not listened on


@dataclass(frozen=True, kw_only=True)
class Listener:
    """An agent's name and its socket, which the server closes."""

    name: str
    sock: socket.socket
    url: str
    """Address of the socket, without a trailing slash."""


def listen(name: str, *, host: str, port: int) -> Listener:
    """Bind a socket for one agent; port 0 takes a free one.

    Raises:
        ListenError: The address is in use, not allowed, or not one of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's algorithm only if the protocol is given explicitly. Otherwise every
    # reply on a kept connection would be 40 ms late.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
    except OSError as exc:
        sock.close()
        raise ListenError(
            f"cannot listen on {host}:{port} for {name!r}: {exc.strerror or exc}; "
            "choose another --port (0 takes a free one) or --host"
        ) from exc
    return Listener(name=name, sock=sock, url=_url(host, sock.getsockname()[1]))


def _url(host: str, port: int) -> str:
    """Return the address at which a caller on this machine reaches the socket."""
    if host in WILDCARDS:
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
