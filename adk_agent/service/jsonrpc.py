"""The JSON-RPC endpoint: a2a-sdk's, with the protocol's codes where that has others."""

from __future__ import annotations

from typing import Any

from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter
from a2a.server.jsonrpc_models import InvalidParamsError, JSONParseError, JSONRPCError
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.routes.common import ServerCallContextBuilder
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adk_agent.service.limits import JSON_RPC_PATH

_MAX_ERRORS_SHOWN = 5


def jsonrpc_route(
    handler: RequestHandler,
    *,
    context_builder: ServerCallContextBuilder,
    shutdown_grace_s: float,
) -> Route:
    """The route of protocols 1.0 and 0.3 at the root."""
    dispatcher = JsonRpcDispatcher(
        handler,
        context_builder=context_builder,
        enable_v0_3_compat=True,
        shutdown_grace_period=shutdown_grace_s,
    )

    async def endpoint(request: Request) -> Response:
        try:
            body = await request.json()  # kept by the request: it is parsed once
        except RecursionError:
            return _error(None, JSONParseError(message="The JSON is nested too deeply"))
        except ValueError as error:
            return _error(None, JSONParseError(message=_where(error)))
        problem = _unusable_params(body)
        if problem is not None:
            return _error(body.get("id"), problem)
        return await dispatcher.handle_requests(request)

    return Route(JSON_RPC_PATH, endpoint, methods=["POST"])


def _where(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"The body is not UTF-8 at byte {error.start}"
    return f"Invalid JSON payload: {error}"


def _unusable_params(body: Any) -> JSONRPCError | None:
    """What is wrong with the params of a 0.3 request that is sound otherwise.

    a2a-sdk calls that an invalid request; the protocol has a code for it.
    """
    if not isinstance(body, dict) or body.get("jsonrpc") != "2.0":
        return None
    method, request_id = body.get("method"), body.get("id")
    model = JSONRPC03Adapter.METHOD_TO_MODEL.get(method) if isinstance(method, str) else None
    if (
        model is None
        or isinstance(request_id, bool)
        or not isinstance(request_id, str | int | None)
    ):
        return None
    try:
        model.model_validate(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        if any(each["loc"][:1] != ("params",) for each in found):
            return None
        shown = [f"{_path(each['loc'])}: {each['msg']}" for each in found[:_MAX_ERRORS_SHOWN]]
        return InvalidParamsError(data=shown)
    return None


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(each) for each in location)


def _error(request_id: str | int | None, error: JSONRPCError) -> JSONResponse:
    shown = error.model_dump(by_alias=True, exclude_none=True)
    return JSONResponse({"jsonrpc": "2.0", "id": request_id, "error": shown})
