"""Upstream: asks the peers. Answers are bounded, and connections are used again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tau_bridge.a2a.guard import default_ssl_context
from tau_bridge.a2a.proxy.connection import Connection, Head
from tau_bridge.a2a.proxy.headers import Headers, value_of
from tau_bridge.errors import AgentProtocolError, AgentReplyTooLargeError

if TYPE_CHECKING:
    from tau_bridge.a2a.proxy.limits import ProxyLimits
    from tau_bridge.a2a.proxy.routes import Peer, Route

_WITH_BODY = frozenset({"PATCH", "POST", "PUT"})


class Answer:
    """An answer of which the head is there. Its body can be read once."""

    def __init__(self, connection: Connection, head: Head, *, url: str, max_bytes: int) -> None:
        self.status = head.status
        self.headers = head.headers
        self._connection = connection
        self._url = url
        self._max_bytes = max_bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is one of success."""
        return 200 <= self.status < 300

    def check(self, *, has_body: bool) -> None:
        """Look at what the head announces.

        Raises:
            AgentError: A compressed body, or too large a one.
        """
        encoding = value_of(self.headers, b"content-encoding").strip().lower()
        if encoding not in ("", "identity"):
            raise AgentProtocolError(
                self._url,
                (
                    f"the agent at {self._url!r} sent an answer compressed as {encoding!r}, although"
                    " the request said 'Accept-Encoding: identity'; turn compression off on its server"
                ),
            )
        length = value_of(self.headers, b"content-length")
        if has_body and length.isdecimal() and int(length) > self._max_bytes:
            raise self._too_large()

    async def body(self) -> AsyncGenerator[bytes]:
        """The chunks of the body, as they come.

        Raises:
            AgentReplyTooLargeError: There are too many.
            httpx.TransportError: It broke off.
        """
        received = 0
        async with aclosing(self._connection.body()) as chunks:
            async for chunk in chunks:
                received += len(chunk)
                if received > self._max_bytes:
                    raise self._too_large()
                yield chunk

    def _too_large(self) -> AgentReplyTooLargeError:
        msg = (
            f"the agent at {self._url!r} sent more than {self._max_bytes} bytes in one answer;"
            " make it answer with less, or raise the limit"
        )
        return AgentReplyTooLargeError(self._url, msg)


class Upstream:
    """The connections to the peers. Whoever makes it closes it.

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
        """The peer's answer, its body unread, bounded and not compressed.

        Raises:
            AgentError: The answer is compressed or too large.
            httpx.TransportError: There is none, or it broke off.
        """
        url = route.callee.address.url
        target = route.path + (f"?{query.decode('latin-1')}" if query else "")
        sent = [(b"host", urlsplit(url).netloc.encode()), *headers]
        if body or method in _WITH_BODY:
            sent.append((b"content-length", str(len(body)).encode()))
        connection = self._kept(route.callee) or await self._fresh(route.callee)
        self._busy.add(connection)
        try:
            head = await connection.ask(method, target, sent, body)
            answer = Answer(connection, head, url=url, max_bytes=self._limits.max_reply_bytes)
            answer.check(has_body=method != "HEAD")
            yield answer
        finally:
            self._release(route.callee, connection)

    def close(self) -> None:
        """Close every connection. May be called again."""
        for connection in [*self._busy, *(one for idle in self._idle.values() for one in idle)]:
            connection.abort()
        self._busy.clear()
        self._idle.clear()

    def _kept(self, peer: Peer) -> Connection | None:
        """The connection that was used last, if it is young enough. Older ones are closed."""
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

    async def _fresh(self, peer: Peer) -> Connection:
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
