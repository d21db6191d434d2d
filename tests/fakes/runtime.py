"""Fakes that work, for this package's tests and for anyone who extends it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tau_bridge.clock import Runtime


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, start: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed_s = 0.0

    def now(self) -> datetime:
        """The time that was set."""
        return self._start + timedelta(seconds=self._elapsed_s)

    def monotonic_s(self) -> float:
        """Seconds since the start."""
        return self._elapsed_s

    def advance(self, seconds: float) -> None:
        """Move the clock on."""
        self._elapsed_s += seconds


def manual_runtime() -> Runtime:
    """A clock that stands still, and identifiers `id-1`, `id-2`, ..."""
    numbers = itertools.count(1)
    return Runtime(clock=ManualClock(), new_id=lambda: f"id-{next(numbers)}")


ChatAnswer = Callable[[Mapping[str, Any]], str | Mapping[str, Any] | int]


USAGE: Final = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}


def embedding_model(
    vector: Callable[[str], Sequence[float] | int], *, usage: Mapping[str, int] | None = USAGE
) -> Starlette:
    """A server that speaks OpenAI's embeddings, at `/v1`.

    Args:
        vector: Takes a text; returns its vector, or an HTTP status to fail with.
        usage: What every answer reports; None for a server that reports none.
    """

    async def embed(request: Request) -> Response:
        body = await request.json()
        made = [vector(text) for text in body["input"]]
        status = next((each for each in made if isinstance(each, int)), None)
        if status is not None:
            return JSONResponse({"error": {"message": "refused", "code": status}}, status)
        data = [
            {"object": "embedding", "index": index, "embedding": list(each)}
            for index, each in enumerate(made)
            if not isinstance(each, int)
        ]
        shown = {} if usage is None else {"usage": usage}
        # The wire allows any order: each has its index.
        return JSONResponse({"object": "list", "data": data[::-1], "model": body["model"], **shown})

    return Starlette(routes=[Route("/v1/embeddings", embed, methods=["POST"])])


def chat_model(answer: ChatAnswer, *, usage: Mapping[str, int] | None = USAGE) -> Starlette:
    """A server that speaks OpenAI's chat completions, at `/v1`, over any base URL.

    Args:
        answer: Takes the request's JSON; returns the assistant's text, a whole assistant message
            (for tool calls), or an HTTP status to fail with.
        usage: What every answer reports; None for a server that reports none.
    """

    async def complete(request: Request) -> Response:
        body = await request.json()
        given = answer(body)
        if isinstance(given, int):
            return JSONResponse({"error": {"message": "refused", "code": given}}, given)
        message = {"role": "assistant", "content": given} if isinstance(given, str) else given
        return JSONResponse(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                **({} if usage is None else {"usage": usage}),
            }
        )

    return Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"])])
