"""An agent of a shop that answers `greenroom check` as a good agent does, and ways to spoil it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import parse_qs

from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.fakes.agents import card_for, scripted_agent

_ORDER = re.compile(r"my order (R-\w+)")

CardChange = Callable[[dict[str, Any]], Any]


def call(name: str, **arguments: str) -> str:
    """A call in the documented form."""
    return json.dumps({"name": name, "arguments": arguments})


class Shop:
    """Looks orders up, and remembers by context which one it was asked for."""

    def __init__(self) -> None:
        self.orders: dict[str, str] = {}

    def __call__(self, text: str, context_id: str) -> str:
        """Answer a message."""
        asked = _ORDER.search(text)
        if asked:
            self.orders[context_id] = asked[1]
            return call("get_order_status", order_id=asked[1])
        return call("respond", content=f"Order {self.orders[context_id]} is on its way.")


def shop_agent(**options: Any) -> ASGIApp:
    """A good agent; `options` are those of `scripted_agent`."""
    return scripted_agent(Shop(), **options)


def with_card(
    app: ASGIApp,
    change: CardChange = lambda card: None,
    *,
    headers: Mapping[str, str] | None = None,
    **options: Any,
) -> ASGIApp:
    """Serve an app with another card: changed in place, or replaced by what `change` returns.

    `options` are those of `card_for`.
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != AGENT_CARD_WELL_KNOWN_PATH:
            await app(scope, receive, send)
            return
        card = agent_card_to_dict(card_for(str(Request(scope).base_url), **options))
        changed = change(card)
        shown = card if changed is None else changed
        await JSONResponse(shown, headers=headers)(scope, receive, send)

    return answer


def lets_in(
    app: ASGIApp, admits: Callable[[Request], bool], *, methods: Collection[str] = ("POST",)
) -> ASGIApp:
    """Refuse messages that are not admitted; the card too, where GET is among the methods."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        is_checked = scope["type"] == "http" and scope["method"] in methods
        if is_checked and not admits(Request(scope)):
            await JSONResponse({"detail": "no"}, 401)(scope, receive, send)
            return
        await app(scope, receive, send)

    return answer


def wants_token(app: ASGIApp, token: str) -> ASGIApp:
    """Refuse messages, but not the card, without a bearer token."""
    return lets_in(app, lambda request: request.headers.get("authorization") == f"Bearer {token}")


class TokenServer:
    """Gives tokens to the client `me` with the secret `s3cr3t!`, by OAuth 2.0. An ASGI app.

    `valid` are the tokens that it stands for.
    """

    def __init__(self, *, expires_in: float | None = 3600) -> None:
        self.expires_in = expires_in
        self.valid: list[str] = []
        self.scopes: list[str | None] = []

    def admits(self, request: Request) -> bool:
        """Tell whether a request carries a token of this server."""
        return request.headers.get("authorization", "").removeprefix("Bearer ") in self.valid

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for a token."""
        request = Request(scope, receive)
        form = parse_qs((await request.body()).decode())
        client = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        if client != "me:s3cr3t%21" or form.get("grant_type") != ["client_credentials"]:
            await JSONResponse({"error": "invalid_client"}, 401)(scope, receive, send)
            return
        self.scopes.append(next(iter(form.get("scope", [])), None))
        self.valid.append(f"token-of-many-letters-{len(self.scopes)}")
        said = {"access_token": self.valid[-1], "token_type": "Bearer"}
        if self.expires_in is not None:
            said["expires_in"] = self.expires_in
        await JSONResponse(said)(scope, receive, send)
