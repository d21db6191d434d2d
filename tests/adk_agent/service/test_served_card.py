"""By which address the card is served, and what a client gets that has it."""

from datetime import UTC, datetime

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from adk_agent.service.agent_card import build_card, card_json
from adk_agent.service.callers import CARD_PATHS, HTTP_CARD_PATH
from adk_agent.service.served_card import ServedCard

MODIFIED = datetime(2026, 11, 24, 12, 30, 15, 999, tzinfo=UTC)
URL = "http://127.0.0.1:9009/green/"


async def asked(url=URL, path=CARD_PATHS[0], *, grpc_url=None, **headers):
    """The answer to a request for a card that was configured with an address."""
    configured = build_card(url, version="1", grpc_url=grpc_url)
    card = ServedCard(configured, modified_at=MODIFIED)
    app = Starlette(routes=[Route(each, card, methods=["GET"]) for each in CARD_PATHS])
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://card.test"
    ) as client:
        return await client.get(path, headers=headers)


def addresses(answer):
    return {each["url"].rstrip("/") for each in answer.json()["supportedInterfaces"]}


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("localhost:9009", "http://localhost:9009/green"),
        ("LocalHost:9009", "http://localhost:9009/green"),
        ("[::1]:9009", "http://[::1]:9009/green"),
        ("127.0.0.1:9009", "http://127.0.0.1:9009/green"),
    ],
)
async def test_a_card_of_this_machine_has_the_name_by_which_it_was_asked_for(host, address):
    answer = await asked(Host=host)
    assert addresses(answer) == {address}
    assert answer.json()["url"].rstrip("/") == address  # what 0.3 reads


@pytest.mark.parametrize(
    "host",
    [
        "evil.test:9009",
        "localhost:9010",
        "localhost",
        "localhost:09009",
        "localhost:9009@evil.test",
        "evil.test@localhost:9009",
        "localhost.evil.test:9009",
        "localhost:9009/evil",
        "localhost:9009, evil.test",
        "10.0.0.1:9009",
        "0.0.0.0:9009",
        "",
    ],
)
async def test_any_other_host_gets_the_card_as_it_was_configured(host):
    configured = card_json(build_card(URL, version="1"))
    assert (await asked(Host=host)).json() == configured


@pytest.mark.parametrize("url", ["https://agents.example/green/", "http://192.168.0.7:9009/"])
@pytest.mark.parametrize("host", ["localhost:9009", "127.0.0.1", "localhost"])
async def test_a_card_that_names_another_machine_is_the_same_for_everybody(url, host):
    assert (await asked(url, Host=host)).json() == card_json(build_card(url, version="1"))


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://127.0.0.1:80/"])
async def test_port_80_may_be_left_out(url):
    assert addresses(await asked(url, Host="localhost")) == {"http://localhost"}


async def test_each_name_has_a_tag_of_its_own():
    here, there = await asked(Host="localhost:9009"), await asked(Host="127.0.0.1:9009")
    tag = {"If-None-Match": here.headers["etag"]}
    assert here.headers["cache-control"] == there.headers["cache-control"] == "public, max-age=60"
    assert (await asked(Host="localhost:9009", **tag)).status_code == 304
    assert (await asked(Host="127.0.0.1:9009", **tag)).status_code == 200


@pytest.mark.parametrize(
    ("since", "status"),
    [
        ("Tue, 24 Nov 2026 12:30:15 GMT", 304),
        ("Tue, 24 Nov 2026 12:30:16 GMT", 304),
        ("Tue, 24 Nov 2026 12:30:14 GMT", 200),
        ("yesterday", 200),
        ("Tue, 24 Nov 2026 12:30:15 -0000", 200),
    ],
)
async def test_a_client_that_has_it_by_its_date_gets_none(since, status):
    answer = await asked(**{"If-Modified-Since": since})
    assert answer.headers["last-modified"] == "Tue, 24 Nov 2026 12:30:15 GMT"
    assert answer.status_code == status
    tagged = {"If-None-Match": '"another"', "If-Modified-Since": since}
    assert (await asked(**tagged)).status_code == 200  # a tag says more than a date


async def test_grpc_is_on_every_card_but_one():
    bindings = {}
    for path in CARD_PATHS:
        card = (await asked(path=path, grpc_url="127.0.0.1:9011")).json()
        bindings[path] = {each["protocolBinding"] for each in card["supportedInterfaces"]}
    without = bindings.pop(HTTP_CARD_PATH)
    assert without == {"JSONRPC", "HTTP+JSON"}
    assert all(found == without | {"GRPC"} for found in bindings.values())


async def test_another_name_of_this_machine_leaves_the_address_of_grpc_alone():
    card = (await asked(grpc_url="127.0.0.1:9011", Host="localhost:9009")).json()
    grpc = {
        each["url"] for each in card["supportedInterfaces"] if each["protocolBinding"] == "GRPC"
    }
    assert grpc == {"127.0.0.1:9011"}
