"""Faults between members: what a message from one agent to another meets in the proxy.

| fault | the callee | the caller |
|---|---|---|
| `member_busy` | gets nothing | is answered 503 |
| `member_lost_reply` | gets the message and answers | is answered 504, and never gets the reply |
| `member_duplicate` | gets the message twice | gets the first reply |
| `member_delay` | gets the message later | waits |

A caller that was answered 503 or 504 has to send again itself, and that message meets no fault.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tau_bridge.a2a.faulty_delivery import DROPPED
from tau_bridge.a2a.proxy.dialects import Request, parsed, read_answer
from tau_bridge.a2a.proxy.events import EventReader
from tau_bridge.a2a.replies import ReplyFold, UnreadablePartError
from tau_bridge.chaos.injector import DELAY_S, INJECTED

if TYPE_CHECKING:
    from tau_bridge.a2a.proxy.headers import Headers
    from tau_bridge.a2a.proxy.recording import ObservedCall
    from tau_bridge.a2a.proxy.routes import Route
    from tau_bridge.a2a.proxy.upstream import Answer, Upstream
    from tau_bridge.chaos.injector import Injector


class InjectedRefusalError(Exception):
    """The caller is answered with a status on purpose."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, kw_only=True)
class KeptAnswer:
    """A peer's answer, read whole."""

    status: int
    headers: Headers
    content: bytes

    @property
    def is_success(self) -> bool:
        """Tell whether the status is one of success."""
        return 200 <= self.status < 300

    async def body(self) -> AsyncGenerator[bytes]:
        """Yield the body in one piece."""
        yield self.content


@dataclass(frozen=True, kw_only=True)
class Passing:
    """A message on its way: to whom, and in which form."""

    route: Route
    method: str
    query: bytes
    headers: Headers
    body: bytes
    asks: Request

    def to(self, upstream: Upstream) -> AbstractAsyncContextManager[Answer]:
        """Deliver it once."""
        return upstream.answer(
            self.route,
            method=self.method,
            query=self.query,
            headers=self.headers,
            body=self.body,
        )


@asynccontextmanager
async def delivered(
    passing: Passing, upstream: Upstream, call: ObservedCall | None, faults: Injector | None
) -> AsyncIterator[Answer | KeptAnswer]:
    """Deliver a message under the fault that is drawn for it; yields the answer that counts.

    Args:
        passing: The message, or another request, which meets no fault.
        upstream: Where it goes.
        call: The step of the message; None for another request.
        faults: Draws the fault; None: there is none.

    Raises:
        InjectedRefusalError: The caller gets a status in place of the answer.
        AgentError: As of `Upstream.answer`.
        httpx.TransportError: As of `Upstream.answer`.
    """
    caller, callee = passing.route.caller, passing.route.callee.name
    fault = None
    if faults is not None and call is not None:
        fault = faults.next_between(caller, callee)
    if fault is None or faults is None or call is None:
        async with passing.to(upstream) as answer:
            yield answer
        return
    call.attributes[INJECTED] = fault
    faults.note_between(fault, caller, callee)
    if fault == "member_busy":
        raise InjectedRefusalError(503, "the agent is busy; send the message again")
    if fault == "member_delay":
        await asyncio.sleep(DELAY_S)
        async with passing.to(upstream) as answer:
            yield answer
        return
    kept = await _kept(passing, upstream)
    if fault == "member_lost_reply":
        call.attributes[DROPPED] = _said(kept, passing.asks)
        raise InjectedRefusalError(504, "the agent's reply was lost; send the message again")
    call.attributes[DROPPED] = _said(await _kept(passing, upstream), passing.asks)
    yield kept


async def _kept(passing: Passing, upstream: Upstream) -> KeptAnswer:
    async with passing.to(upstream) as answer:
        async with aclosing(answer.body()) as chunks:
            content = b"".join([chunk async for chunk in chunks])
        return KeptAnswer(status=answer.status, headers=answer.headers, content=content)


def _said(answer: KeptAnswer, asks: Request) -> str:
    """Return the text of an answer: a reply or an error, whole or as a stream."""
    streamed = list(EventReader().feed(answer.content + b"\n\n"))
    fold = ReplyFold()
    for data in streamed or [answer.content]:
        read = read_answer(parsed(data), asks)
        if read.error is not None:
            return read.error
        if read.event is not None:
            fold.add(read.event)
    try:
        return fold.reply().as_text()
    except UnreadablePartError as exc:
        return str(exc)
