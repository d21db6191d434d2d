"""The socket that the service listens on: one message for each way in which there can be none."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
from typing import Any

from adk_agent.core.errors import PreflightError


def bound_socket(host: str, port: int, *, flag: str = "--port") -> socket.socket:
    """Bind a socket; it does not accept connections before the server starts it.

    Args:
        host: A name or an address of this machine.
        port: 0 for a free one.
        flag: What sets the port, for the message.

    Raises:
        PreflightError: The address cannot be used. The message says what to change.
    """
    where = f"{host}:{port}"
    try:
        family, address = _resolved(host, port)
    except (OSError, UnicodeError) as error:
        raise PreflightError(
            f"cannot listen on {where}: {host!r} is not a known host; correct --host"
        ) from error
    # It names its protocol: asyncio turns Nagle's algorithm off only on sockets that do.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise PreflightError(f"cannot listen on {where}: {_advice(error, flag)}") from error
    return listener


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    with contextlib.suppress(ValueError):
        version = ipaddress.ip_address(host).version  # an address needs no look-up
        return (socket.AF_INET if version == 4 else socket.AF_INET6), (host, port)
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = found[0]
    return family, address


def _advice(error: OSError, flag: str) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"the port is in use; choose another {flag}"
    if error.errno == errno.EADDRNOTAVAIL:
        return "it is not an address of this machine; correct --host"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"ports below 1024 are not for everybody; choose another {flag}"
    return f"{error.strerror}; choose another --host or {flag}"


def address_of(listener: socket.socket) -> str:
    """Return the address at which this machine reaches a socket."""
    host, port = listener.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - a comparison
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a server at this host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
