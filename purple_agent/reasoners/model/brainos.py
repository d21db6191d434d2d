"""BrainOs: an optional streaming model endpoint that is called before the primary model.

No public text defines its protocol; this is ours, and docs/reference-agent.md states it for those
who serve one. The request is a POST of JSON, `{"messages": [...], "tools": [...], "stream": true}`
with messages and tools in OpenAI's form. The answer is a stream of server-sent events; the data of
each is one of

    {"delta": "text"}                                    a piece of the text
    {"tool_call": {"name": "...", "arguments": {...}}}   a whole call
    {"usage": {"total_tokens": 12}}                      what it cost, optional
    {"error": "text"}                                    it failed
    [DONE]                                               the end; a stream without it was cut off
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import httpx

from purple_agent.errors import UsageError
from purple_agent.model_usage import note_call
from purple_agent.reasoners.model.completion import (
    MAX_CALLS,
    Completed,
    Message,
    ProposedCall,
    estimate_tokens,
    proposed,
)
from purple_agent.reasoners.model.errors import ModelAnswerError, ModelCallError

TIMEOUT_S = 60.0
"""Timeout from the first byte sent to the last byte received."""
CONNECT_TIMEOUT_S = 5.0
MAX_BYTES = 1_000_000
MAX_LINE = 200_000
_END = "[DONE]"


class BrainOs:
    """Asks a BrainOS endpoint. `aclose` it in the end.

    Args:
        url: The endpoint.
        timeout_s: Timeout for a whole answer.
        transport: Another transport; None for the network.

    Raises:
        UsageError: The address is not an http or https address.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float = TIMEOUT_S,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._url = _checked(url)
        self._timeout_s = timeout_s
        self._transport = transport
        self._client: httpx.AsyncClient | None = None

    async def __call__(
        self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = ()
    ) -> Completed:
        """Ask the endpoint.

        Raises:
            ModelCallError: It is unreachable, refused, or took too long.
            ModelAnswerError: Its answer cannot be read, is too long, or was cut off.
        """
        body = {"messages": list(messages), "tools": list(tools), "stream": True}
        try:
            async with asyncio.timeout(self._timeout_s):
                completed = await self._ask(body)
        except (httpx.HTTPError, TimeoutError) as error:
            raise ModelCallError(f"BrainOS could not be called: {type(error).__name__}") from error
        note_call(None, None, None)  # its usage has no parts, and no price is known
        tokens = completed.tokens or estimate_tokens(messages, completed.content)
        return replace(completed, tokens=tokens)

    async def _ask(self, body: Mapping[str, Any]) -> Completed:
        headers = {"accept": "text/event-stream", "accept-encoding": "identity"}
        request = self._open().stream("POST", self._url, json=body, headers=headers)
        async with request as response:
            if response.status_code != httpx.codes.OK:
                raise ModelCallError(f"BrainOS answered with status {response.status_code}")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise ModelAnswerError("BrainOS sent a compressed answer, which was not asked for")
            return await _collect(_data(response))

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            timeout = httpx.Timeout(self._timeout_s, connect=CONNECT_TIMEOUT_S)
            self._client = httpx.AsyncClient(timeout=timeout, transport=self._transport)
        return self._client

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


def _checked(url: str) -> httpx.URL:
    try:
        found = httpx.URL(url)
    except httpx.InvalidURL:
        found = httpx.URL("")
    if found.scheme not in ("http", "https") or not found.host or (found.port or 1) > 65_535:
        # The address itself may hold a password.
        raise UsageError("the address of BrainOS must be one of http or https, with a host")
    return found


async def _data(response: httpx.Response) -> AsyncIterator[str]:
    """Yield the data of each event, up to the bounds."""
    received, rest = 0, b""
    async for chunk in response.aiter_raw():
        received += len(chunk)
        if received > MAX_BYTES:
            raise ModelAnswerError(f"BrainOS sent more than {MAX_BYTES} bytes")
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_LINE:
            raise ModelAnswerError(f"BrainOS sent a line of more than {MAX_LINE} bytes")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip().decode("utf-8", "replace")


async def _collect(events: AsyncIterator[str]) -> Completed:
    texts: list[str] = []
    calls: list[ProposedCall] = []
    tokens = 0
    async for data in events:
        if data == _END:
            return Completed(content="".join(texts), calls=tuple(calls[:MAX_CALLS]), tokens=tokens)
        event = _event(data)
        if "error" in event:
            raise ModelCallError(f"BrainOS failed: {str(event['error'])[:200]}")
        if isinstance(event.get("delta"), str):
            texts.append(event["delta"])
        if "tool_call" in event:
            calls.append(_call(event["tool_call"]))
        tokens = _tokens(event.get("usage"), tokens)
    raise ModelAnswerError("BrainOS ended its answer before [DONE]")


def _event(data: str) -> Mapping[str, Any]:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ModelAnswerError(f"BrainOS sent an event that is no JSON: {data[:80]!r}") from error
    if not isinstance(event, dict):
        raise ModelAnswerError(f"BrainOS sent an event that is no object: {data[:80]!r}")
    return event


def _call(value: Any) -> ProposedCall:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise ModelAnswerError("BrainOS sent a tool call without a name")
    return proposed(value["name"], value.get("arguments"))


def _tokens(usage: Any, before: int) -> int:
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) and 0 < total <= 10**9 else before
