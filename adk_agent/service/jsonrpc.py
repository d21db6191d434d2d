"""The JSON-RPC endpoint: a2a-sdk's, with the protocol's codes where that has others."""

from __future__ import annotations

import json
import logging
from typing import Any

from a2a.compat.v0_3.jsonrpc_adapter import JSONRPC03Adapter
from a2a.server.jsonrpc_models import (
    InvalidParamsError,
    InvalidRequestError,
    JSONParseError,
    JSONRPCError,
)
from a2a.server.request_handlers.request_handler import RequestHandler
from a2a.server.routes.common import ServerCallContextBuilder
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.utils.errors import JSON_RPC_ERROR_CODE_MAP, ContentTypeNotSupportedError
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adk_agent.service.finite_json import finite_json
from adk_agent.service.history import asks_for_no_history
from adk_agent.service.limits import JSON_RPC_PATH
from adk_agent.service.media_types import JSON_MEDIA_TYPE, JSON_MEDIA_TYPES, media_type

logger = logging.getLogger(__name__)
_sdk_logger = logging.getLogger(JsonRpcDispatcher.__module__)

_MAX_ERRORS_SHOWN = 5
_FIELDS = frozenset({"jsonrpc", "id", "method", "params"})
_MAX_NAME_SHOWN = 60
_DELETE_0_3 = "tasks/pushNotificationConfig/delete"


def jsonrpc_route(
    handler: RequestHandler,
    *,
    context_builder: ServerCallContextBuilder,
    shutdown_grace_s: float,
) -> Route:
    """Build the route of protocols 1.0 and 0.3 at the root."""
    _sdk_logger.addFilter(_is_told_once)
    dispatcher = JsonRpcDispatcher(
        handler,
        context_builder=context_builder,
        enable_v0_3_compat=True,
        shutdown_grace_period=shutdown_grace_s,
    )

    async def endpoint(request: Request) -> Response:
        try:
            body = finite_json(await request.body())  # the dispatcher reads it again
        except RecursionError:
            return _error(None, JSONParseError(message="The JSON is nested too deeply"))
        except ValueError as error:
            return _error(None, _unreadable(error, media_type(request.headers)))
        why = _not_a_request(body)
        if why is not None:
            return _error(_id_of(body), InvalidRequestError(message=f"Invalid Request: {why}"))
        problem = _unusable_params(body)
        if problem is not None:
            return _error(_id_of(body), problem)
        request.state.no_history = asks_for_no_history(body.get("params"))
        answer = await dispatcher.handle_requests(request)
        return _with_result(answer) if body["method"] == _DELETE_0_3 else answer

    return Route(JSON_RPC_PATH, endpoint, methods=["POST"])


def _is_told_once(record: logging.LogRecord) -> bool:
    """Leave out the traceback of a request that is none: the next line says what is wrong with it."""
    return record.msg != "Failed to parse request params"


def _with_result(answer: Response) -> Response:
    """Return an answer with `result: null` where it has neither a result nor an error.

    a2a-sdk leaves a result of nothing out, and JSON-RPC wants one of the two.
    """
    said = json.loads(bytes(answer.body))
    if "result" in said or "error" in said:
        return answer
    return JSONResponse({**said, "result": None})


def _unreadable(error: ValueError, given: str) -> JSONRPCError:
    """Return the error for what is no JSON; by its media type it may not have meant to be."""
    if given and given not in JSON_MEDIA_TYPES:
        code = JSON_RPC_ERROR_CODE_MAP[ContentTypeNotSupportedError]
        return JSONRPCError(code=code, message=f"The body is {given!r}: send {JSON_MEDIA_TYPE}")
    return JSONParseError(message=_where(error))


def _where(error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"The body is not UTF-8 at byte {error.start}"
    return f"Invalid JSON payload: {error}"


def _not_a_request(body: Any) -> str | None:
    """Say why JSON is no JSON-RPC request; None where it is one.

    a2a-sdk refuses the same, and writes a traceback into the log for each.
    """
    if not isinstance(body, dict):
        return "the body has to be one object; batches are not supported"
    unknown = sorted(body.keys() - _FIELDS)
    if unknown:
        return f"the field {unknown[0][:_MAX_NAME_SHOWN]!r} is unknown"
    if body.get("jsonrpc") != "2.0":
        return "jsonrpc has to be '2.0'"
    if not isinstance(body.get("method"), str) or not body["method"]:
        return "method has to be a string"
    if not _is_id(body.get("id")):
        return "id has to be a string, an integer or null"
    if not isinstance(body.get("params", {}), dict | list | None):
        return "params has to be an object"
    return None


def _id_of(body: Any) -> str | int | None:
    """Return the id to answer with: that of the request where it has one that can be used."""
    request_id = body.get("id") if isinstance(body, dict) else None
    return request_id if _is_id(request_id) else None


def _is_id(value: Any) -> bool:
    return isinstance(value, str | int | None) and not isinstance(value, bool)


def _unusable_params(body: dict[str, Any]) -> JSONRPCError | None:
    """Return what is wrong with a 0.3 request.

    a2a-sdk calls wrong params an invalid request, for which the protocol has a code of its own, and
    writes a traceback into the log.
    """
    model = JSONRPC03Adapter.METHOD_TO_MODEL.get(body["method"])
    if model is None:
        return None
    try:
        model.model_validate(body)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        shown = [
            f"{'.'.join(map(str, each['loc']))}: {each['msg']}"
            for each in found[:_MAX_ERRORS_SHOWN]
        ]
        about_params = all(each["loc"][:1] == ("params",) for each in found)
        return (InvalidParamsError if about_params else InvalidRequestError)(data=shown)
    return None


def _error(request_id: str | int | None, error: JSONRPCError) -> JSONResponse:
    logger.warning("a request was refused: %d %s", error.code, error.message)
    shown = error.model_dump(by_alias=True, exclude_none=True)
    return JSONResponse({"jsonrpc": "2.0", "id": request_id, "error": shown})
