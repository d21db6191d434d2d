"""The card: where it is found, and what goes with the options of the service."""

import httpx
from pydantic import SecretStr

from adk_agent.service.callers import CARD_PATHS, Callers


def test_the_card_is_at_both_addresses(client):
    cards = [client.http.get(path) for path in CARD_PATHS]
    assert [card.status_code for card in cards] == [200, 200]
    assert cards[0].json() == cards[1].json()
    assert cards[0].headers["cache-control"] == "public, max-age=60"
    again = client.http.get(CARD_PATHS[0], headers={"If-None-Match": cards[0].headers["etag"]})
    assert again.status_code == 304


def test_the_card_names_a_security_scheme_where_a_token_is_needed(client, serve_edge):
    assert "securitySchemes" not in client.http.get(CARD_PATHS[0]).json()
    address = serve_edge(callers=Callers.of(SecretStr("one")))
    card = httpx.get(address + CARD_PATHS[0]).json()
    assert list(card["securitySchemes"]) == ["bearer"]
    assert card["securitySchemes"]["bearer"]["type"] == "http"  # what 0.3 reads
    assert card["securityRequirements"] == [{"schemes": {"bearer": {}}}]
