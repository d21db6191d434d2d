"""Headers that pass through the proxy, and headers that do not. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import urljoin, urlsplit

from tau_bridge.a2a.address import AddressError
from tau_bridge.a2a.proxy.routes import Route

Headers = list[tuple[bytes, bytes]]
"""Names in lower case, and values."""

_HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    }
)
# These belong to the hop, would tell the callee the caller's token, or would make an answer that
# cannot be read: compressed, or none because the caller has it already.
_NOT_SENT_ON: Final = _HOP_BY_HOP | {
    b"accept-encoding",
    b"content-length",
    b"expect",
    b"host",
    b"if-modified-since",
    b"if-none-match",
    b"referer",
}
# A card is rewritten, so what names its content names another one.
_NOT_SENT_BACK: Final = _HOP_BY_HOP | {b"content-length", b"etag", b"last-modified"}
_OF_ANOTHER_PLACE: Final = (b"path=", b"domain=")


def value_of(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """Return the first value under `name`; empty without one."""
    return next((value.decode("latin-1") for key, value in headers if key == name), "")


def forward_request_headers(headers: Headers) -> Headers:
    """Return the headers that a peer is sent. Host and length are for the sender to add."""
    kept = _drop(headers, _NOT_SENT_ON)
    return [*kept, (b"accept-encoding", b"identity")]


def forward_response_headers(headers: Headers, route: Route) -> Headers:
    """Return the headers that a caller gets; redirects and cookies keep to the proxy's address."""
    answered = []
    for name, value in _drop(headers, _NOT_SENT_BACK):
        if name == b"location":
            answered.append((name, _location(value, route)))
        elif name == b"set-cookie":
            answered.append((name, _cookie(value)))
        else:
            answered.append((name, value))
    return answered


def _drop(headers: Headers, names: frozenset[bytes]) -> Headers:
    listed = b",".join(value for name, value in headers if name == b"connection")
    named = {token.strip().lower() for token in listed.split(b",")}
    return [pair for pair in headers if pair[0] not in names and pair[0] not in named]


def _location(value: bytes, route: Route) -> bytes:
    """Return the proxy's address for one at the callee; any other as it is."""
    base = urlsplit(route.callee.address.url)
    try:
        target = urljoin(f"{base.scheme}://{base.netloc}{route.path}", value.decode("latin-1"))
        same_origin = urlsplit(target)[:2] == base[:2]
        return route.proxy_url(target).encode("latin-1") if same_origin else value
    except (AddressError, ValueError):
        return value


def _cookie(value: bytes) -> bytes:
    """Return a cookie without its path, so that its reader sends it to this callee alone."""
    first, *rest = value.split(b";")
    kept = [one for one in rest if not one.strip().lower().startswith(_OF_ANOTHER_PLACE)]
    return b";".join([first, *kept])
