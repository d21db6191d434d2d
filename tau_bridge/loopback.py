"""Sockets for the servers that the assessor itself runs: on loopback, unless they are told otherwise."""

from __future__ import annotations

import socket
from typing import Final

LOOPBACK: Final = "127.0.0.1"
_BACKLOG: Final = 1024


def listening_socket(host: str = LOOPBACK, port: int = 0) -> socket.socket:
    """A listening socket, on a free port of loopback unless another place is named.

    It names its protocol, because asyncio turns Nagle's algorithm off only on sockets that do: with
    it on, an answer in two writes comes 40 ms late.

    Raises:
        OSError: the place cannot be listened on.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if port:
            # Otherwise connections of a run before would keep the port for a minute.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener
