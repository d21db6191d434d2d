"""What is served where the card should be."""

import json

import pytest
from starlette.applications import Starlette
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from tests.fakes import card_route, huge, invalid_card
from tests.fakes.shop import shop_agent, with_card

CARD = "/.well-known/agent-card.json"


async def test_a_redirect_is_not_followed_and_its_address_is_named(check, of):
    app = Starlette(routes=[Route(CARD, lambda _: RedirectResponse(f"https://shop.test{CARD}"))])
    result = await check(app)
    assert result.verdict == "fails"
    assert "redirects (HTTP 307) to 'https://shop.test'" in of(result, "reach")
    assert result.messages_sent == 0


async def test_a_card_at_the_root_is_found_when_the_path_is_wrong(check, of):
    result = await check(shop_agent(), path="/agents/shop")
    assert result.verdict == "fails"
    assert "HTTP 404" in of(result, "reach")
    assert "its card is at http://127.0.0.1:" in of(result, "reach")


async def test_a_card_at_the_old_path_is_found(check, of):
    card = card_route().endpoint
    result = await check(Starlette(routes=[Route("/.well-known/agent.json", card)]))
    assert "its card is at /.well-known/agent.json, the path before protocol 0.3" in of(
        result, "reach"
    )


@pytest.mark.parametrize(("interface_url", "verdict"), [("/", "ready"), (None, "fails")])
async def test_an_agent_below_a_path_names_the_path_in_its_card(check, of, interface_url, verdict):
    shop = shop_agent(protocols=("1.0",), interface_url=interface_url)
    result = await check(Starlette(routes=[Mount("/shop", shop)]), path="/shop")
    assert result.verdict == verdict
    if verdict == "fails":
        assert "let the card name where they are served" in of(result, "interfaces")


@pytest.mark.parametrize(
    ("app", "words"),
    [
        (invalid_card("<html>hello</html>"), "it is not JSON: '<html>hello</html>'"),
        (invalid_card("[1]"), "it is JSON, but no object"),
        (invalid_card("[" * 100_000), "it is not JSON"),
        (invalid_card('{"name": ["not", "a", "card"]}'), "does not fit A2A's schema"),
        (invalid_card('{"skills": 1}'), "does not fit A2A's schema"),
        (invalid_card("no", status=500), "HTTP 500"),
        (invalid_card("no", status=401), "wants credentials: HTTP 401"),
        (huge(3, in_card=True), "more than 1048576 bytes"),
    ],
)
async def test_what_is_no_card_fails_and_is_quoted(check, of, app, words):
    result = await check(app)
    assert result.verdict == "fails"
    assert words in of(result, "reach")
    assert result.messages_sent == 0


async def test_a_card_of_wrong_types_is_told_field_by_field(check, of):
    card = {
        "nmae": "x",
        "version": 1,
        "description": ["x"],
        "skills": "help",
        "capabilities": {"streaming": "yes"},
        "supportedInterfaces": [{"protocolBinding": "JSONRPC", "url": "http://127.0.0.1"}],
    }
    result = await check(invalid_card(json.dumps(card)))
    assert result.verdict == "fails"
    told = of(result, "card")
    for words in (
        "'version' is '1'",
        "A2A's schema has a text there",
        "'skills' is '\"help\"'",
        "A2A's schema has a list there",
        "'capabilities.streaming'",
        "'name' is missing",
        "did you mean 'name'?",
    ):
        assert words in told, told
    assert "came in" in of(result, "reach")


async def test_an_agent_that_fails_to_serve_its_card_is_sent_to_its_log(check, of):
    assert "read its log" in of(await check(invalid_card("no", status=500)), "reach")


async def test_a_card_served_as_text_is_a_warning(check, statuses, of):
    result = await check(with_card(shop_agent(), headers={"content-type": "text/plain"}))
    assert statuses(result) == {"reach": "warning"}
    assert "'text/plain'" in of(result, "reach")


async def test_a_compressed_card_fails(check, of):
    app = Starlette(
        routes=[Route(CARD, lambda _: Response(b"x", headers={"content-encoding": "gzip"}))]
    )
    assert "turn compression off" in of(await check(app), "reach")
