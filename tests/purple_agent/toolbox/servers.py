"""Tool servers over real HTTP: a plain one, and one of the Model Context Protocol."""

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import ToolAnnotations
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse

from purple_agent.case import Case, Dialect, Incoming, Session, ToolCall
from purple_agent.toolbox.limits import ToolLimits
from tests.fakes.serving import RequestLog, serve

LIMITS = ToolLimits(timeout_s=20, max_bytes=100_000, retry_wait_s=0.0)
HURRIED = ToolLimits(timeout_s=0.2, max_bytes=100_000, max_retries=0)


def described(name: str, *, required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """A tool as plain servers list it; `properties` are types by name."""
    schema = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": list(required),
    }
    return {"name": name, "description": f"The tool {name}.", "input_schema": schema}


def called(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(id="call-1", name=name, arguments=arguments)


@dataclass
class PlainServer:
    """A plain tool server that checks names as strictly as servers do, and does what it is told.

    Args:
        tools: What it lists.
        work: What a tool does with its parameters; without, it gives them back.
        listing: Answers a listing instead.
        answer: Answers a call instead, before it is looked at.
    """

    tools: list[Any] = field(default_factory=list)
    work: dict[str, Callable[[dict[str, Any]], Any]] = field(default_factory=dict)
    listing: Callable[[Request], Response] | None = None
    answer: Callable[[Request], Response] | None = None
    carried_out: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    received: int = 0
    asked: list[str] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        await (await self._answered(request))(scope, receive, send)

    async def _answered(self, request: Request) -> Response:
        self.asked.append(f"{request.method} {request.url.path}?{request.url.query}")
        if request.method == "GET" and request.url.path == "/mcp/tools":
            return self.listing(request) if self.listing else JSONResponse({"tools": self.tools})
        if request.method != "POST" or request.url.path != "/mcp":
            return JSONResponse({"error": "nothing is here"}, status_code=404)
        self.received += 1
        if self.answer:
            return self.answer(request)
        return JSONResponse(self._outcome(json.loads(await request.body())))

    def _outcome(self, body: dict[str, Any]) -> Any:
        tool = next((tool for tool in self.tools if tool["name"] == body["tool"]), None)
        if tool is None:
            return {"error": f"unknown tool: {body['tool']}"}
        properties = tool["input_schema"]["properties"]
        for name, value in body["params"].items():
            if name not in properties:
                return {"error": f"unknown parameter {name!r}"}
            if properties[name]["type"] == "integer" and not isinstance(value, int):
                return {"error": f"{name} must be an integer"}
        for name in tool["input_schema"]["required"]:
            if name not in body["params"]:
                return {"error": f"missing required parameter {name!r}"}
        self.carried_out.append((body["tool"], body["params"]))
        return self.work.get(body["tool"], lambda params: {"result": params})(body["params"])


class Hanging(Response):
    """Never answers; ends when the client has gone."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass


def endless() -> StreamingResponse:
    """Ten megabytes of digits, in pieces."""
    return StreamingResponse((b"1" * 50_000 for _ in range(200)), media_type="application/json")


def redirect(status: int = 307) -> RedirectResponse:
    return RedirectResponse("http://127.0.0.1:1/mcp", status_code=status)


@dataclass
class McpPlace:
    """A running MCP server, and what reached it."""

    url: str
    log: RequestLog
    written: list[str]
    forgotten: set[bytes] = field(default_factory=set)

    def forget(self) -> None:
        """Know none of the sessions so far any more."""
        self.forgotten.update(
            request.headers["mcp-session-id"].encode()
            for request in self.log.requests
            if "mcp-session-id" in request.headers
        )


def mcp_server(written: list[str]) -> MCPServer:
    server = MCPServer("office", log_level="CRITICAL")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def peek(order_id: str) -> dict[str, Any]:
        """An order."""
        return {"order_id": order_id, "amount": 12.5}

    @server.tool()
    def find_names(part: str) -> list[str]:
        """Names."""
        return [part, part.upper()]

    @server.tool()
    def cancel_order(order_id: str, reason: str) -> str:
        """Cancels an order."""
        written.append(f"{order_id}: {reason}")
        return "cancelled"

    @server.tool()
    def get_trouble() -> str:
        """Fails."""
        raise ToolError("the drawer is stuck")

    @server.tool()
    def get_everything() -> str:
        """Ten megabytes."""
        return "1" * 10_000_000

    @server.tool()
    async def get_nothing() -> str:
        """Never answers."""
        import anyio

        await anyio.sleep_forever()
        return "never"

    return server


@contextlib.contextmanager
def serving_mcp(*, handshake: bool = False) -> Iterator[McpPlace]:
    """Serve MCP; with `handshake`, as a server does that knows only the older protocol."""
    written: list[str] = []
    by_any_name = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = mcp_server(written).streamable_http_app(transport_security=by_any_name)
    log = RequestLog(app)

    async def front(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await app(scope, receive, send)
        elif handshake and (b"mcp-method", b"server/discover") in scope["headers"]:
            await Response(status_code=400)(scope, receive, send)
        elif not place.forgotten.isdisjoint(value for _, value in scope["headers"]):
            await Response(status_code=404)(scope, receive, send)
        else:
            await log(scope, receive, send)

    place = McpPlace(url="", log=log, written=written)
    with serve(front) as url:
        place.url = f"{url}/mcp"
        yield place


def case_of(*, dialect: Dialect = Dialect.BUSINESS, text: str = "Do it.", **metadata: Any) -> Case:
    """The first message of a conversation."""
    incoming = Incoming(context_id="c1", message_id="m1", text=text, metadata=metadata)
    return Case(incoming=incoming, session=Session(context_id="c1", dialect=dialect))
