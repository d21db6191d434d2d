"""Upstream: asks the peers. Answers are bounded, and connections are used again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tau_bridge.a2a.guard import Exchange, bound_chunks, check_head, default_ssl_context
from tau_bridge.a2a.proxy.connection import Connection, Head
from tau_bridge.a2a.proxy.headers import Headers, value_of

if TYPE_CHECKING:
    from tau_bridge.a2a.proxy.limits import ProxyLimits
    from tau_bridge.a2a.proxy.routes import Peer, Route

_WITH_BODY = frozenset({"PATCH", "POST", "PUT"})


class Answer:
    """An answer of which the head is there. Its body can be read once."""

    def __init__(self, connection: Connection, head: Head, current: Exchange) -> None:
        self.status = head.status
        self.headers = head.headers
        self._connection = connection
        self._exchange = current

    @property
    def is_success(self) -> bool:
        """Tell whether the status is one of success."""
        return 200 <= self.status < 300

    async def body(self) -> AsyncGenerator[bytes]:
        """Yield the chunks of the body, as they come.

        Raises:
            AgentReplyTooLargeError: There are too many.
            httpx.TransportError: It broke off.
        """
        async with aclosing(self._connection.body()) as chunks:
            async for chunk in bound_chunks(chunks, self._exchange):
                yield chunk


class Upstream:
    """The connections to the peers; the owner closes them.

    No request is ever repeated: a message that the peer gets twice would be something that the
    team did not do.
    """

    def __init__(self, *, limits: ProxyLimits) -> None:
        self._limits = limits
        self._idle: dict[str, deque[Connection]] = {}
        self._busy: set[Connection] = set()

    @asynccontextmanager
    async def answer(
        self, route: Route, *, method: str, query: bytes, headers: Headers, body: bytes
    ) -> AsyncIterator[Answer]:
        """Ask a peer; yield its answer with the body unread, bounded and not compressed.

        Raises:
            AgentError: The answer is compressed or too large.
            httpx.TransportError: There is no answer, or it broke off.
        """
        url = route.callee.address.url
        target = route.path + (f"?{query.decode('latin-1')}" if query else "")
        sent = [(b"host", urlsplit(url).netloc.encode()), *headers]
        if body or method in _WITH_BODY:
            sent.append((b"content-length", str(len(body)).encode()))
        connection = self._take_idle(route.callee) or await self._connect(route.callee)
        self._busy.add(connection)
        try:
            head = await connection.ask(method, target, sent, body)
            current = Exchange(url=url, max_bytes=self._limits.max_reply_bytes)
            check_head(
                current,
                encoding=value_of(head.headers, b"content-encoding"),
                length="" if method == "HEAD" else value_of(head.headers, b"content-length"),
            )
            yield Answer(connection, head, current)
        finally:
            self._release(route.callee, connection)

    def close(self) -> None:
        """Close every connection. May be called again."""
        for connection in [*self._busy, *(one for idle in self._idle.values() for one in idle)]:
            connection.abort()
        self._busy.clear()
        self._idle.clear()

    def _take_idle(self, peer: Peer) -> Connection | None:
        """Return the connection used last, if it is young enough. Older ones are closed."""
        idle = self._idle.setdefault(peer.name, deque())
        expired_s = time.monotonic() - self._limits.keepalive_s
        while idle and idle[0].idle_since_s < expired_s:
            idle.popleft().abort()
        while idle:
            connection = idle.pop()
            if not connection.is_broken:
                return connection
            connection.abort()
        return None

    async def _connect(self, peer: Peer) -> Connection:
        parts = urlsplit(peer.address.url)
        secure = parts.scheme == "https"
        return await Connection.open(
            parts.hostname or "",
            parts.port or (443 if secure else 80),
            tls=default_ssl_context() if secure else None,
            timeout_s=self._limits.connect_timeout_s,
        )

    def _release(self, peer: Peer, connection: Connection) -> None:
        self._busy.discard(connection)
        if connection.renew():
            connection.idle_since_s = time.monotonic()
            self._idle.setdefault(peer.name, deque()).append(connection)
        else:
            connection.abort()
