"""Removes the status timestamps that a2a-sdk's client could not read.

A2A has the time of a task's status with its zone. Some servers leave the zone out (fasta2a 2.1), and
then the SDK refuses the whole answer. These times are not used here, so a timestamp without a zone is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx

_SUSPECT: Final = re.compile(rb'"timestamp"\s*+:\s*+(?!"[^"]*(?:Z|[+-]\d\d:\d\d)")')
"""A timestamp that does not end with its zone. It may be in an agent's data as well."""
_HOLDERS: Final = ("task", "statusUpdate", "status_update")
_DATA: Final = b"data:"


def remove_unreadable_timestamp(body: bytes) -> bytes:
    """Remove the status's timestamp from the JSON of an answer, where that lacks a zone.

    Data of the agent is left alone, whatever its keys; so is what is no JSON.
    """
    if not _SUSPECT.search(body):
        return body
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return body
    for status in _statuses(answer):
        if _SUSPECT.search(json.dumps({"timestamp": status.get("timestamp")}).encode()):
            status.pop("timestamp", None)
    return json.dumps(answer).encode()


def _statuses(answer: Any) -> list[dict[str, Any]]:
    """Find the status of a task or an update: bare, named, or in a JSON-RPC result."""
    outer = [answer, answer.get("result")] if isinstance(answer, dict) else []
    holders = [each for each in outer if isinstance(each, dict)]
    holders += [
        each[key] for each in holders for key in _HOLDERS if isinstance(each.get(key), dict)
    ]
    return [each["status"] for each in holders if isinstance(each.get("status"), dict)]


class TimestampTransport(httpx.AsyncBaseTransport):
    """Passes requests on to another transport, and mends the timestamps of its answers."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Pass on the answer: a stream of events line by line, other bodies whole."""
        response = await self._inner.handle_async_request(request)
        if not isinstance(response.stream, httpx.AsyncByteStream):
            raise TypeError("the transport gave an answer without an asynchronous stream")
        is_stream = "text/event-stream" in response.headers.get("content-type", "")
        mended = _MendedLines if is_stream else _MendedBody
        response.stream = mended(response.stream)
        return response

    async def aclose(self) -> None:
        """Close the inner transport."""
        await self._inner.aclose()


class _MendedBody(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield remove_unreadable_timestamp(b"".join([chunk async for chunk in self._stream]))

    async def aclose(self) -> None:
        await self._stream.aclose()


class _MendedLines(_MendedBody):
    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun: list[bytes] = []
        async for chunk in self._stream:
            end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
            if end:
                lines = b"".join([*begun, chunk[:end]]).splitlines(keepends=True)
                yield b"".join(map(_mend_line, lines))
                begun = []
            begun.append(chunk[end:])
        yield _mend_line(b"".join(begun))


def _mend_line(line: bytes) -> bytes:
    if not line.startswith(_DATA) or not _SUSPECT.search(line):
        return line
    content = line[len(_DATA) :]
    text = content.rstrip(b"\r\n")
    return _DATA + remove_unreadable_timestamp(text) + content[len(text) :]
