"""Checks that an agent's address answers with a card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import httpx

from tau_bridge.a2a.address import WELL_KNOWN_CARD_PATH
from tau_bridge.agent_check.card_answer import OLD_CARD_PATH, MisfitCardError, UnreadableCardError
from tau_bridge.agent_check.findings import Finding, fails, ok, quote, warning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tau_bridge.a2a.address import AgentAddress
    from tau_bridge.agent_check.card_answer import CardAnswer, CardFetcher, ParsedCard

SLOW_CARD_MS: Final = 2_000
"""Milliseconds for a card, after which registries and platforms give up."""
_WANTS_CREDENTIALS: Final = (401, 403)
_SERVE_IT: Final = f"serve the card at {WELL_KNOWN_CARD_PATH} below the agent's address"


async def check_reach(
    answer: CardAnswer, address: AgentAddress, fetcher: CardFetcher, *, has_credentials: bool
) -> tuple[list[Finding], ParsedCard | MisfitCardError | None]:
    """Return the findings about the answer, and the card, or what was meant to be one."""
    if answer.redirects_to is not None:
        return [_redirect(answer)], None
    if answer.status in _WANTS_CREDENTIALS:
        return [_closed(answer, has_credentials=has_credentials)], None
    if answer.status >= httpx.codes.INTERNAL_SERVER_ERROR:
        found = f"no card: HTTP {answer.status} at {answer.url}"
        return [fails(found, "the agent itself failed: read its log")], None
    if answer.status != httpx.codes.OK:
        found = f"no card: HTTP {answer.status} at {answer.url}"
        return [fails(found, await _elsewhere(address, fetcher))], None
    try:
        parsed = answer.parse()
    except MisfitCardError as exc:
        if not _is_like_a_card(exc.data):
            found = f"what is served at {answer.url} is no card: {exc}"
            return [fails(found, await _elsewhere(address, fetcher))], None
        return [_size_and_time(answer), *_content_type(answer)], exc
    except UnreadableCardError as exc:
        found = f"what is served at {answer.url} is no card: {exc}"
        return [fails(found, await _elsewhere(address, fetcher))], None
    return [_size_and_time(answer), *_content_type(answer)], parsed


def _is_like_a_card(data: Mapping[str, Any]) -> bool:
    names = {"name", "url", "skills", "capabilities", "supportedInterfaces", "protocolVersion"}
    return len(names & data.keys()) > 1


def _redirect(answer: CardAnswer) -> Finding:
    target = (answer.redirects_to or "").removesuffix(WELL_KNOWN_CARD_PATH)
    return fails(
        f"its address redirects (HTTP {answer.status}) to {quote(target)}",
        "redirects are not followed: give that address, or serve the agent here",
    )


def _closed(answer: CardAnswer, *, has_credentials: bool) -> Finding:
    advice = (
        "they are not accepted: check --token or --credential"
        if has_credentials
        else "give --token or --credential"
    )
    return fails(
        f"its card wants credentials: HTTP {answer.status}",
        f"{advice}; a card that anyone can read lets others find out how to authenticate",
    )


async def _elsewhere(address: AgentAddress, fetcher: CardFetcher) -> str:
    """Say where the card is instead, if it is near."""
    root = await fetcher.card_at_root(address)
    if root is not None:
        return f"its card is at {root.url}: give that address"
    if await fetcher.serves_card(address, OLD_CARD_PATH):
        return f"its card is at {OLD_CARD_PATH}, the path before protocol 0.3: {_SERVE_IT}"
    return f"check host, port and path; {_SERVE_IT}"


def _size_and_time(answer: CardAnswer) -> Finding:
    found = f"its card came in {answer.elapsed_ms:.0f} ms ({len(answer.body)} bytes)"
    if answer.elapsed_ms <= SLOW_CARD_MS:
        return ok(found)
    return warning(
        found, f"serve the card within {SLOW_CARD_MS} ms; work for a reply must not block it"
    )


def _content_type(answer: CardAnswer) -> list[Finding]:
    given = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given == "application/json" or given.endswith("+json"):
        return []
    shown = quote(given) if given else "no content type"
    return [warning(f"its card is served as {shown}", "serve it as application/json")]


def unreachable_advice(address: AgentAddress) -> str:
    """Return what to do about an address where nothing answers."""
    host = urlsplit(address.url).hostname
    if host in ("localhost", "127.0.0.1", "::1"):
        return (
            "start the agent, and compare its port; from a container, this machine has another"
            " name, such as host.docker.internal"
        )
    return "start the agent, let it listen on 0.0.0.0, and compare host and port"
