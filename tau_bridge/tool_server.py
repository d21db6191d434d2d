"""ToolServer: serves the tools of trials over HTTP while a run plays."""

from __future__ import annotations

import contextlib
import json
import math
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NoReturn, Protocol, Self
from urllib.parse import parse_qs, urlsplit

from evals.trace import CallType
from tau_bridge.limits import Limits
from tau_bridge.loopback import LOOPBACK, BackgroundServer, listening_socket

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from tau_bridge.recorder import TraceRecorder

EVERY_INTERFACE: Final = "0.0.0.0"  # noqa: S104 - only where an address for others is set


@dataclass(frozen=True, kw_only=True)
class ToolServerLimits(Limits):
    """Limits on what agents send. All are positive."""

    max_request_bytes: int = 64 * 1024
    """Body bytes of one call."""
    max_calls: int = 200
    """Calls in one session; further ones are answered by an error and not made."""
    max_depth: int = 20
    """Levels of JSON in one call."""


_DEFAULT_LIMITS = ToolServerLimits()


class AnsweredCall(Protocol):
    """The answer to a call: an error, or else a result."""

    @property
    def error(self) -> str | None:
        """Return the error; None where there is a result."""

    @property
    def result(self) -> Any:
        """Return a JSON value."""


class ToolWorld(Protocol):
    """The tools of one trial, over whatever they act on."""

    @property
    def calls(self) -> Sequence[AnsweredCall]:
        """Return the calls that were made so far."""

    def listed(self) -> Sequence[Mapping[str, Any]]:
        """List the tools as an agent may see them now, as JSON values."""

    def call(self, name: str, arguments: dict[str, Any], /) -> AnsweredCall:
        """Make a call, and record it."""


@dataclass(frozen=True, kw_only=True)
class ToolSession:
    """One trial's way to its tools. Its `id` is secret, and cannot be guessed."""

    id: str
    world: ToolWorld
    recorder: TraceRecorder
    caller: str
    """The agent's name in the trace."""
    name: str
    """The tools' name in the trace."""


class _BadCallError(Exception):
    """A request that is no call. The message is for the agent."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class ToolServer:
    """A server for the tools of many trials at once. Use it as an asynchronous context manager.

    `GET /mcp/tools?session_id=` lists, `POST /mcp` with `{tool, params, session_id}` calls. What a
    tool refuses is answered `{"error": ...}` with status 200; what is no call at all with 400, 404
    or 413.

    Args:
        url: `http://host` or `http://host:port`, at which agents on other machines reach this one:
            the server listens on every IPv4 interface then, without a port on a free one. None: on
            loopback, for agents on this machine.
        limits: Bounds on what agents send.
        new_session_id: Makes ids that cannot be guessed.
    """

    def __init__(
        self,
        *,
        url: str | None = None,
        limits: ToolServerLimits = _DEFAULT_LIMITS,
        new_session_id: Callable[[], str] = secrets.token_urlsafe,
    ) -> None:
        self._url = url
        self.limits = limits
        self._new_session_id = new_session_id
        self._sessions: dict[str, ToolSession] = {}
        self._origin = ""
        self._server: BackgroundServer | None = None

    @property
    def endpoint(self) -> str:
        """Return the address to give to agents.

        Raises:
            RuntimeError: the server was not started.
        """
        if not self._origin:
            raise RuntimeError(
                "the tools have no address before they are served; use 'async with tools:'"
            )
        return self._origin

    async def __aenter__(self) -> Self:
        """Start to serve.

        Raises:
            OSError: the port is taken, or none is free.
        """
        listener, self._origin = _listening(self._url)
        self._server = BackgroundServer(self._answer, listener)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Give up what is in flight, and close every socket."""
        self._sessions.clear()
        if self._server is not None:
            await self._server.aclose()

    @contextlib.contextmanager
    def session(
        self, world: ToolWorld, *, recorder: TraceRecorder, caller: str, name: str
    ) -> Iterator[ToolSession]:
        """Offer the tools of one trial for as long as it lasts; calls become steps of its trace."""
        session = ToolSession(
            id=self._new_session_id(),
            world=world,
            recorder=recorder,
            caller=caller,
            name=name,
        )
        self._sessions[session.id] = session
        try:
            yield session
        finally:
            self._sessions.pop(session.id, None)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            body = await self._body(receive)
            status, content = 200, self._content(scope["method"], scope, body)
        except _BadCallError as bad:
            status, content = bad.status, {"error": str(bad)}
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(content).encode()})

    async def _body(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self.limits.max_request_bytes:
                raise _BadCallError(413, f"a call has at most {self.limits.max_request_bytes} B")
            if not message.get("more_body"):
                return bytes(body)

    def _content(self, method: str, scope: Scope, body: bytes) -> dict[str, Any]:
        match method, scope["path"].rstrip("/"):
            case "GET", "/mcp/tools":
                asked = parse_qs(scope["query_string"].decode("ascii", "replace"))
                return {"tools": self._session(asked.get("session_id", [None])[0]).world.listed()}
            case "POST", "/mcp":
                return self._call(_read(body, self.limits.max_depth))
            case _:
                raise _BadCallError(404, "there are GET /mcp/tools?session_id= and POST /mcp")

    def _session(self, session_id: object) -> ToolSession:
        if not isinstance(session_id, str) or session_id not in self._sessions:
            raise _BadCallError(
                404, "unknown session: send the session_id of the message's metadata"
            )
        return self._sessions[session_id]

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        session = self._session(call.get("session_id"))
        tool, params = call.get("tool"), call.get("params", {})
        if not isinstance(tool, str) or not isinstance(params, dict):
            raise _BadCallError(400, "a call is {tool: text, params: object, session_id: text}")
        if len(session.world.calls) >= self.limits.max_calls:
            return {"error": f"no further calls: a session has at most {self.limits.max_calls}"}
        return _make_call(session, tool, params)


def _listening(url: str | None) -> tuple[socket.socket, str]:
    """Open a listening socket; return it with the address at which agents reach it."""
    place = urlsplit(url or f"http://{LOOPBACK}")
    host = LOOPBACK if url is None else EVERY_INTERFACE
    listener = listening_socket(host, place.port or 0)
    return listener, f"http://{place.hostname}:{listener.getsockname()[1]}"


def _make_call(session: ToolSession, tool: str, params: dict[str, Any]) -> dict[str, Any]:
    turn = session.recorder.open_calls_of(session.caller)
    step = session.recorder.begin(
        call_type=CallType.TOOL,
        caller=session.caller,
        callee=session.name,
        name=tool,
        parent_step_id=turn[-1].step_id if turn else None,
        request_text=json.dumps(params, ensure_ascii=False),
    )
    made = session.world.call(tool, params)
    content = {"result": made.result} if made.error is None else {"error": made.error}
    step.end(response_text=json.dumps(content, ensure_ascii=False), error=made.error)
    return content


def _read(body: bytes, max_depth: int) -> dict[str, Any]:
    try:
        call = json.loads(body, parse_constant=_no_number, parse_float=_finite)
        json.dumps(call, ensure_ascii=False).encode()  # fails for lone surrogates
    except (ValueError, RecursionError) as exc:
        raise _BadCallError(400, "the body is not JSON") from exc
    if not isinstance(call, dict) or _deeper_than(call, max_depth):
        raise _BadCallError(400, f"a call is a JSON object of at most {max_depth} levels")
    return call


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number of JSON")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_number(text)


def _deeper_than(value: object, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper_than(each, levels - 1) for each in inner)
