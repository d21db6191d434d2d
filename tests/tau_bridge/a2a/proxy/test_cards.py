"""Cards on their way through the proxy."""

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tau_bridge.a2a.proxy import ObservingProxy
from tau_bridge.recorder import TraceRecorder
from tests.fakes import RequestLog, raw_agent, scripted_agent
from tests.tau_bridge.a2a.conftest import Serving
from tests.tau_bridge.a2a.proxy.calls import NOWHERE, ask, echo, post, rpc


@pytest.mark.parametrize("path", ["agent-card.json", "agent.json"])
async def test_a_card_names_the_proxy_wherever_it_named_the_agent(
    serving: Serving, path: str
) -> None:
    async def card(request: Request) -> Response:
        base = str(request.base_url)
        return JSONResponse(
            {
                "name": "clerk",
                "description": "é",
                "skills": [],
                "url": base,
                "preferredTransport": "GRPC",
                "additionalInterfaces": [
                    {"url": f"{base}grpc", "transport": "GRPC"},
                    {"url": f"{base}rest", "transport": "HTTP+JSON"},
                ],
                "supportedInterfaces": [
                    {"url": f"{base}a?x=1", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
                    {"url": "http://elsewhere.example/", "protocolBinding": "JSONRPC"},
                    {"url": base, "protocolBinding": "GRPC"},
                    "nonsense",
                ],
                "signatures": [{"protected": "x", "signature": "y"}],
            },
            headers={"etag": "old"},
        )

    url = serving(Starlette(routes=[Route(f"/.well-known/{path}", card)]))
    async with (
        ObservingProxy({"A": NOWHERE, "B": url}) as proxy,
        httpx.AsyncClient(trust_env=False) as client,
    ):
        ours = proxy.url_for("A", "B")
        response = await client.get(f"{ours}.well-known/{path}")
    assert "etag" not in response.headers
    assert response.json() == {
        "name": "clerk",
        "description": "é",
        "skills": [],
        "url": f"{ours}rest",
        "preferredTransport": "HTTP+JSON",
        "additionalInterfaces": [{"url": f"{ours}rest", "transport": "HTTP+JSON"}],
        "supportedInterfaces": [
            {"url": f"{ours}a?x=1", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
    }


async def test_an_extended_card_is_rewritten_too_and_one_without_a_way_through_is_refused(
    serving: Serving,
) -> None:
    interfaces = [{"url": "/rpc", "protocolBinding": "JSONRPC"}]

    async def answer(request: Request) -> Response:
        known = interfaces if (await request.json())["id"] == "7" else []
        return JSONResponse({"id": "7", "result": {"name": "B", "supportedInterfaces": known}})

    url = serving(raw_agent(answer))
    async with ObservingProxy({"A": NOWHERE, "B": url}) as proxy:
        ours = proxy.url_for("A", "B")
        asked = rpc("GetExtendedAgentCard", {"x": 1})
        card = (await post(ours, json=asked)).json()["result"]
        refused = await post(ours, json={**asked, "id": "8"})
    assert card["supportedInterfaces"][0]["url"] == f"{ours}rpc"
    assert refused.status_code == 502
    assert "no interface that the proxy can pass on" in refused.json()["error"]["message"]


async def test_an_agent_below_a_path_keeps_its_callers_below_it(
    serving: Serving, recorder: TraceRecorder
) -> None:
    app = Starlette()
    app.mount("/agents/b", scripted_agent(echo, interface_url="/agents/b/"))
    log = RequestLog(app)
    async with ObservingProxy({"A": NOWHERE, "B": f"{serving(log)}/agents/b"}) as proxy:
        with proxy.recording(recorder):
            assert (await ask(proxy.url_for("A", "B"), "hi")).text == "you said hi"
    assert {request.path for request in log.requests} == {
        "/agents/b/.well-known/agent-card.json",
        "/agents/b/",
    }
