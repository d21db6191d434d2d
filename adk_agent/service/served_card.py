"""The card as it is served: by an address that its client takes, and kept by caches."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from a2a.types import AgentCard
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from adk_agent.service.agent_card import GRPC, card_json
from adk_agent.service.callers import HTTP_CARD_PATH
from adk_agent.service.listening import is_loopback

CARD_CACHING = "public, max-age=60"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


class ServedCard:
    """Answers requests for the card. An ASGI application.

    Some clients, such as ADK's RemoteA2aAgent, refuse a card that names another origin than the one
    they fetched it from. So

    - where the card names this machine, a client that asked by another of its names, for example
      `localhost:9009`, gets the card with that name. Every other Host gets the card as it was
      configured: whoever writes a Host must not choose where others send their requests;
    - HTTP_CARD_PATH has the card without gRPC, which is always served at another port.

    Args:
        card: The card as it was configured.
        modified_at: When it was, in UTC; None: its clients are not told.
    """

    def __init__(self, card: AgentCard, *, modified_at: datetime | None = None) -> None:
        http_only = _without_grpc(card)
        self._whole = _by_host(card, modified_at)
        # Without gRPC they are the same, and so are their tags.
        self._http_only = self._whole if http_only == card else _by_host(http_only, modified_at)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        by_host = self._http_only if scope["path"] == HTTP_CARD_PATH else self._whole
        host = _normal(Headers(scope=scope).get("host", ""))
        await by_host.get(host, by_host[""])(scope, receive, send)


class CardAnswer:
    """Answers with one card: whole, or 304 to a client that has it. An ASGI application.

    Written once: platforms ask for it all the time, and to write it takes milliseconds.

    Args:
        card: The card as JSON.
        modified_at: When it became so, in UTC, if clients are to know.
    """

    def __init__(self, card: Mapping[str, Any], *, modified_at: datetime | None) -> None:
        body = json.dumps(card, ensure_ascii=False, separators=(",", ":")).encode()
        self._tag = f'"{hashlib.sha256(body).hexdigest()}"'
        headers = {"ETag": f"W/{self._tag}", "Cache-Control": CARD_CACHING}
        self._modified_at = modified_at and modified_at.replace(microsecond=0)
        if self._modified_at is not None:
            headers["Last-Modified"] = format_datetime(self._modified_at, usegmt=True)
        self._whole = Response(body, headers=headers, media_type="application/json")
        self._unchanged = Response(status_code=304, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        answer = self._unchanged if self._is_known(Headers(scope=scope)) else self._whole
        await answer(scope, receive, send)

    def _is_known(self, headers: Headers) -> bool:
        known = headers.get("if-none-match")
        if known is not None:
            tags = {each.strip().removeprefix("W/") for each in known.split(",")}
            return bool(tags & {"*", self._tag})
        since = headers.get("if-modified-since")
        if since is None or self._modified_at is None:
            return False
        try:
            return parsedate_to_datetime(since) >= self._modified_at
        except (ValueError, TypeError):  # no date, or one without a time zone
            return False


def _by_host(card: AgentCard, modified_at: datetime | None) -> dict[str, CardAnswer]:
    """Return the answer for each Host that counts; by "" the one for all others."""
    cards = {host: _at(card, host) for host in _hosts(card)} | {"": card}
    return {
        host: CardAnswer(card_json(each), modified_at=modified_at) for host, each in cards.items()
    }


def _hosts(card: AgentCard) -> Iterator[str]:
    """Yield the values of Host that mean the address of the card, where that is this machine."""
    address = urlsplit(card.supported_interfaces[0].url)
    if is_loopback(address.hostname or ""):
        for name in LOOPBACK_NAMES:
            yield _normal(f"{name}:{address.port}" if address.port else name)


def _normal(host: str) -> str:
    """Leave out the port that clients leave out."""
    return host.lower().removesuffix(":80")


def _at(card: AgentCard, host: str) -> AgentCard:
    """Return the card with HTTP interfaces at another host."""
    moved = AgentCard()
    moved.CopyFrom(card)
    for each in moved.supported_interfaces:
        if each.protocol_binding != GRPC:
            each.url = urlsplit(each.url)._replace(netloc=host).geturl()
    return moved


def _without_grpc(card: AgentCard) -> AgentCard:
    kept = AgentCard()
    kept.CopyFrom(card)
    del kept.supported_interfaces[:]
    kept.supported_interfaces.extend(
        each for each in card.supported_interfaces if each.protocol_binding != GRPC
    )
    return kept
