"""A player of business scenarios that knows the way: an A2A agent that calls tools over HTTP."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tau_bridge.a2a.guard import default_ssl_context
from tau_bridge.business.scenarios import Scenario, scenarios
from tests.fakes.hostile import raw_agent


class GoldPlayer:
    """Makes the gold calls of a scenario and says its gold answers, a turn for each message.

    It tells scenarios apart by their opening. `results` holds what the tools answered.
    """

    def __init__(self) -> None:
        self.results: list[dict[str, Any]] = []
        self.metadata: list[dict[str, Any]] = []
        self._by_opening = {each.opening: each for each in scenarios().values()}
        self._playing: dict[str, tuple[Scenario, dict[str, Any], int]] = {}

    def app(self) -> Starlette:
        """The agent as an app."""
        return raw_agent(self._endpoint, streaming=False)

    async def _endpoint(self, request: Request) -> Response:
        asked = await request.json()
        message = asked["params"]["message"]
        context_id = message.get("contextId") or str(uuid.uuid4())
        said = await self._answer(context_id, message)
        answer = {
            "messageId": str(uuid.uuid4()),
            "contextId": context_id,
            "role": "ROLE_AGENT",
            "parts": [{"text": said}],
        }
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": {"message": answer}})

    async def _answer(self, context_id: str, message: dict[str, Any]) -> str:
        if context_id not in self._playing:
            scenario = self._by_opening[message["parts"][0]["text"]]
            self.metadata.append(message["metadata"])
            self._playing[context_id] = scenario, message["metadata"], 0
        scenario, told, number = self._playing[context_id]
        self._playing[context_id] = scenario, told, number + 1
        turn = scenario.gold[number]
        # One TLS context for all, so that no certificates are loaded for every message.
        tls = default_ssl_context()
        async with httpx.AsyncClient(base_url=told["tools_endpoint"], verify=tls) as client:
            await client.get("/mcp/tools", params={"session_id": told["session_id"]})
            for call in turn.calls:
                body = {"tool": call.tool, "params": call.params, "session_id": told["session_id"]}
                response = await client.post("/mcp", json=body)
                self.results.append(response.json())
        return turn.say
