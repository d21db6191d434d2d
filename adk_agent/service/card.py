"""The service's card: the one that goes with its options, and how it is answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from a2a.types import AgentCard
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from adk_agent.core.versions import versions
from adk_agent.service.agent_card import build_card
from adk_agent.service.options import ServiceOptions

CARD_CACHING = "public, max-age=60"


def service_card(card_url: str, options: ServiceOptions) -> AgentCard:
    """Build the card of the service that is reached at `card_url`."""
    return build_card(
        card_url,
        version=versions()["greenroom"],
        grpc_url=options.grpc.shown if options.grpc else None,
        needs_token=bool(options.callers),
    )


class CardAnswer:
    """Answers requests for a card: whole, or 304 to a client that has it. An ASGI application.

    Written once: platforms ask for it all the time, and to write it takes milliseconds.

    Args:
        card: The card as JSON.
    """

    def __init__(self, card: Mapping[str, Any]) -> None:
        body = json.dumps(card, ensure_ascii=False, separators=(",", ":")).encode()
        self._tag = f'"{hashlib.sha256(body).hexdigest()}"'
        headers = {"ETag": f"W/{self._tag}", "Cache-Control": CARD_CACHING}
        self._whole = Response(body, headers=headers, media_type="application/json")
        self._unchanged = Response(status_code=304, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        known = Headers(scope=scope).get("if-none-match", "")
        tags = {each.strip().removeprefix("W/") for each in known.split(",")}
        answer = self._unchanged if tags & {"*", self._tag} else self._whole
        await answer(scope, receive, send)
