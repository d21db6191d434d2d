"""Calls to addresses that others named, outside of conversations: push notifications.

client = guarded_client(NetworkPolicy.public())
await client.post(url, json=...)
await client.aclose()
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx

from tau_bridge.a2a.guard import Exchange, GuardedTransport, default_ssl_context, exchange
from tau_bridge.a2a.policy import Gate, NetworkPolicy, Resolver, system_resolver
from tau_bridge.a2a.pool import PooledTransport
from tau_bridge.a2a.retry_policy import RetryPolicy
from tau_bridge.errors import AgentForbiddenError

if TYPE_CHECKING:
    import ssl

__all__ = ["NetworkPolicy", "Resolver", "guarded_client", "is_allowed", "system_resolver"]


async def is_allowed(
    policy: NetworkPolicy,
    url: str,
    *,
    resolver: Resolver = system_resolver,
    timeout_s: float = 5.0,
) -> bool:
    """Tell whether `url` may be called now: all addresses that its host leads to are allowed.

    False too where the name cannot be looked up within `timeout_s`. A name may lead elsewhere
    later, so this is an early hint; `guarded_client` checks again when it calls.
    """
    try:
        policy.check_url(url)
        parsed = httpx.URL(url)
        port = parsed.port or (443 if parsed.scheme == "https" else 80)
        async with asyncio.timeout(timeout_s):
            await policy.resolve(parsed.raw_host.decode("ascii"), port, resolver=resolver)
    except (AgentForbiddenError, OSError):  # TimeoutError is one of the latter
        return False
    return True


def guarded_client(
    policy: NetworkPolicy,
    *,
    timeout_s: float = 5.0,
    max_answer_bytes: int = 64 * 1024,
    resolver: Resolver = system_resolver,
    ssl_context: ssl.SSLContext | None = None,
) -> httpx.AsyncClient:
    """Return a client for single calls to addresses that others gave. The caller closes it.

    Each request is screened, goes to an address that was checked for this very request, follows
    no redirect and uses no proxy of the environment; its answer is read whole, bounded.

    Its calls raise `AgentForbiddenError` for an address that is not allowed,
    `AgentReplyTooLargeError` and `AgentProtocolError` for an answer that is too long or
    compressed, and the errors of httpx.

    Args:
        policy: Which addresses may be called.
        timeout_s: For a whole call, from looking up the name to the end of the answer.
        max_answer_bytes: Of the answer's body.
        resolver: Looks up names.
        ssl_context: TLS settings; those of all messengers by default.
    """
    transport = _ScreenedTransport(
        policy,
        timeout_s=timeout_s,
        max_answer_bytes=max_answer_bytes,
        resolver=resolver,
        ssl_context=ssl_context or default_ssl_context(),
    )
    return httpx.AsyncClient(
        transport=transport,
        timeout=timeout_s,
        headers={"Accept-Encoding": "identity"},
        follow_redirects=False,
        trust_env=False,
    )


class _ScreenedTransport(httpx.AsyncBaseTransport):
    def __init__(
        self,
        policy: NetworkPolicy,
        *,
        timeout_s: float,
        max_answer_bytes: int,
        resolver: Resolver,
        ssl_context: ssl.SSLContext,
    ) -> None:
        self._policy = policy
        self._timeout_s = timeout_s
        self._max_answer_bytes = max_answer_bytes
        self._resolver = resolver
        self._ssl_context = ssl_context

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = str(request.url)
        self._policy.check_url(url)
        # No connection is kept: two names may share an address, and a kept one would carry a
        # request for one name over what was verified for the other.
        gate = Gate(self._policy, resolver=self._resolver)
        connections = PooledTransport(gate, ssl_context=self._ssl_context, keepalive_s=0)
        guarded = GuardedTransport(connections, retry_policy=RetryPolicy(max_retries=0))
        try:
            with exchange(Exchange(url=url, max_bytes=self._max_answer_bytes)):
                async with asyncio.timeout(self._timeout_s):
                    answer = await guarded.handle_async_request(request)
                    content = await answer.aread()
        except TimeoutError as exc:
            raise httpx.ReadTimeout(
                f"{url!r} did not answer within {self._timeout_s:g} s", request=request
            ) from exc
        finally:
            await guarded.aclose()
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)
