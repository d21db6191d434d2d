"""Media types of HTTP+JSON: others than JSON are refused, and answers have the one that was asked for.

a2a-sdk reads a body under any media type, answers `application/a2a+json` to everybody, and refuses
the media type of a message's part with 400, where the protocol's table of errors says 415.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from a2a.utils.constants import A2A_JSON_MEDIA_TYPE
from a2a.utils.error_handlers import build_rest_error_payload
from a2a.utils.errors import A2A_ERROR_REASONS, ContentTypeNotSupportedError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

JSON_MEDIA_TYPE = "application/json"
JSON_MEDIA_TYPES = (JSON_MEDIA_TYPE, A2A_JSON_MEDIA_TYPE)
_UNSUPPORTED = 415
_REASON = A2A_ERROR_REASONS[ContentTypeNotSupportedError]

Endpoint = Callable[[Request], Awaitable[Response]]


def media_type(headers: Headers, name: str = "content-type") -> str:
    """Return the media type of a header, without its parameters; empty if there is none."""
    return headers.get(name, "").partition(";")[0].strip().lower()


def with_media_types(routes: Iterable[BaseRoute]) -> list[BaseRoute]:
    """Return the routes of HTTP+JSON with their media types minded."""
    return [_minded(route) for route in routes]


def _minded(route: BaseRoute) -> BaseRoute:
    if isinstance(route, Mount):
        return Mount(route.path, routes=with_media_types(route.routes))
    if isinstance(route, Route):
        return Route(route.path, _answering(route.endpoint), methods=sorted(route.methods or ()))
    return route


def _answering(endpoint: Endpoint) -> Endpoint:
    async def answer(request: Request) -> Response:
        given = media_type(request.headers)
        if given and given not in JSON_MEDIA_TYPES and await request.body():
            return _refusal(f"the body is {given!r}: send {' or '.join(JSON_MEDIA_TYPES)}")
        response = await endpoint(request)
        if media_type(response.headers) == A2A_JSON_MEDIA_TYPE:
            response.headers["content-type"] = _asked_for(request.headers)
        return _with_status(response)

    return answer


def _asked_for(headers: Headers) -> str:
    """Return what a client accepts by name; otherwise what it sent."""
    accepted = [each.partition(";")[0].strip() for each in headers.get("accept", "").split(",")]
    for one in (*map(str.lower, accepted), media_type(headers)):
        if one in JSON_MEDIA_TYPES:
            return one
    return A2A_JSON_MEDIA_TYPE


def _with_status(response: Response) -> Response:
    """Return an answer; one that refuses a media type with the status that the protocol has for it."""
    if response.status_code != 400:
        return response
    error = json.loads(bytes(response.body))["error"]
    is_one = any(each.get("reason") == _REASON for each in error.get("details", ()))
    return _refusal(error["message"]) if is_one else response


def _refusal(message: str) -> JSONResponse:
    said: dict[str, Any] = build_rest_error_payload(ContentTypeNotSupportedError(message=message))
    said["error"]["code"] = _UNSUPPORTED
    return JSONResponse(said, status_code=_UNSUPPORTED)
