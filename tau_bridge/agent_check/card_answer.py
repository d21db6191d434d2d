"""CardAnswer: what an agent's address answers where its card should be."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import httpx
from a2a.client.card_resolver import parse_agent_card

from tau_bridge.a2a.address import WELL_KNOWN_CARD_PATH, AgentAddress
from tau_bridge.a2a.credentials import AgentAuth
from tau_bridge.a2a.faults import agent_error, is_unreadable
from tau_bridge.agent_check.findings import quote
from tau_bridge.errors import AgentError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from a2a.types import AgentCard

    from tau_bridge.a2a.credentials import Credentials
    from tau_bridge.a2a.faults import TokenRedactor
    from tau_bridge.clock import Clock

OLD_CARD_PATH: Final = "/.well-known/agent.json"
"""The path of the card before protocol 0.3."""


class UnreadableCardError(ValueError):
    """The answer is no card. The message says why, and quotes what came instead."""


class MisfitCardError(UnreadableCardError):
    """The answer is a JSON object, and no card.

    Args:
        problem: Why it is none.
        data: The object.
    """

    def __init__(self, problem: str, data: Mapping[str, Any]) -> None:
        super().__init__(problem)
        self.data = data


@dataclass(frozen=True, kw_only=True)
class CardAnswer:
    """An HTTP answer, and when it came."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    elapsed_ms: float
    received_at: datetime

    @property
    def redirects_to(self) -> str | None:
        """Return the address that it redirects to; None where it is no redirect."""
        is_redirect = self.status in (301, 302, 303, 307, 308)
        return self.headers.get("location") if is_redirect else None

    def parse(self) -> ParsedCard:
        """Parse the body as a card of protocol 1.0 or 0.3.

        Raises:
            UnreadableCardError: It is none; a MisfitCardError where it is an object.
        """
        try:
            data = json.loads(self.body)
        except (ValueError, RecursionError):
            start = self.body[:200].decode("utf-8", errors="replace")
            raise UnreadableCardError(f"it is not JSON: {quote(start)}") from None
        if not isinstance(data, dict):
            raise UnreadableCardError("it is JSON, but no object")
        converted = json.loads(self.body)  # the next call changes what it is given
        try:
            card = parse_agent_card(converted)
        except Exception as exc:
            if not is_unreadable(exc):
                raise
            problem = f"it does not fit A2A's schema: {quote(str(exc), most=300)}"
            raise MisfitCardError(problem, data) from exc
        return ParsedCard(sent=data, converted=converted, card=card)


@dataclass(frozen=True, kw_only=True)
class ParsedCard:
    """A card as it was sent, as JSON of protocol 1.0, and parsed."""

    sent: Mapping[str, Any]
    converted: Mapping[str, Any]
    card: AgentCard

    @property
    def is_legacy(self) -> bool:
        """Tell whether it is a card of protocol 0.3 alone."""
        return "supportedInterfaces" not in self.sent


class CardFetcher:
    """Fetches cards, and other small files of an agent.

    Args:
        client: Made by `guarded_client`: screens addresses, follows no redirects, bounds answers.
        credentials: What the agent is sent.
        redact: Takes secrets out of texts.
        clock: For the time that it takes.
    """

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        credentials: Credentials,
        redact: TokenRedactor,
        clock: Clock,
    ) -> None:
        self._client = client
        self._credentials = credentials
        self._redact = redact
        self._clock = clock

    async def card(self, address: AgentAddress, path: str = WELL_KNOWN_CARD_PATH) -> CardAnswer:
        """Fetch what stands at the path of the card.

        Raises:
            AgentError: There is no answer, or one that is too large or takes too long.
        """
        auth = AgentAuth(
            address.url,
            self._credentials,
            send=partial(self._client.send, auth=None),
            learn=self._redact.learn,
        )
        return await self._fetch(address.url, address.url + path, auth)

    async def public(self, url: str) -> CardAnswer:
        """Fetch a public file, without credentials.

        Raises:
            AgentError: There is no answer.
        """
        return await self._fetch(url, url, None)

    async def card_at_root(self, address: AgentAddress) -> AgentAddress | None:
        """Return the root of an address with a path, if a card is served there."""
        parts = urlsplit(address.url)
        root = AgentAddress(url=f"{parts.scheme}://{parts.netloc}")
        return root if parts.path and await self.serves_card(root) else None

    async def serves_card(self, address: AgentAddress, path: str = WELL_KNOWN_CARD_PATH) -> bool:
        """Tell whether a card is served at an address."""
        try:
            answer = await self.card(address, path)
            answer.parse()
        except (AgentError, UnreadableCardError):
            return False
        return answer.status == httpx.codes.OK

    async def _fetch(self, agent: str, url: str, auth: AgentAuth | None) -> CardAnswer:
        began_s = self._clock.monotonic_s()
        try:
            answer = await self._client.get(url, auth=auth)
        except AgentError:
            raise
        except Exception as exc:
            doing = "fetching the card of"
            error = agent_error(agent, exc, redact=self._redact, doing=doing, answered=False)
            if error is None:
                raise
            raise error from self._redact.cause(exc)
        return CardAnswer(
            url=url,
            status=answer.status_code,
            headers=answer.headers,
            body=answer.content,
            elapsed_ms=(self._clock.monotonic_s() - began_s) * 1000,
            received_at=self._clock.now(),
        )
