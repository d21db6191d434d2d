"""Single calls to addresses that others gave."""

import asyncio
import socket
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.a2a.screening import guarded_client, is_allowed
from tau_bridge.errors import AgentForbiddenError, AgentProtocolError, AgentReplyTooLargeError
from tests.fakes import RequestLog
from tests.fakes.raw import drips, serve_raw

from .conftest import Serving

OPEN, PUBLIC = NetworkPolicy.open(), NetworkPolicy.public()


def listener(body: bytes = b"ok", status: int = 200, **headers: str) -> RequestLog:
    async def answer(request: Request) -> Response:
        await request.body()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Response(body, status_code=status, headers=named)

    return RequestLog(Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])]))


async def test_a_notification_reaches_who_asked_for_it(serving: Serving) -> None:
    log = listener()
    async with guarded_client(OPEN) as client:
        answer = await client.post(f"{serving(log)}/push?x=1", json={"a": 1}, headers={"x-t": "s"})
    assert (answer.status_code, answer.text) == (200, "ok")
    (seen,) = log.requests
    assert (seen.path, seen.json(), seen.headers["x-t"]) == ("/push", {"a": 1}, "s")


async def test_a_forbidden_address_gets_nothing(serving: Serving) -> None:
    log = listener()
    url = serving(log)
    async with guarded_client(PUBLIC) as client:
        with pytest.raises(AgentForbiddenError):
            await client.post(url, json={})
    assert log.requests == []


async def test_each_call_looks_the_name_up_and_goes_to_what_it_found(serving: Serving) -> None:
    log = listener()
    port = serving(log).rpartition(":")[2]
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])

    async def names(host: str, port: int) -> Sequence[str]:
        return next(answers)

    async with guarded_client(OPEN, resolver=names) as client:
        await client.post(f"http://agents.example:{port}/", json={})
        with pytest.raises(AgentForbiddenError, match="metadata"):
            await client.post(f"http://agents.example:{port}/", json={})
    assert [seen.headers["host"] for seen in log.requests] == [f"agents.example:{port}"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(serving: Serving, status: int) -> None:
    log = listener(status=status, location="/elsewhere")
    async with guarded_client(OPEN) as client:
        assert (await client.post(serving(log), json={})).status_code == status
    assert len(log.requests) == 1


async def test_an_answer_is_bounded_and_not_compressed(serving: Serving) -> None:
    async with guarded_client(OPEN, max_answer_bytes=100) as client:
        assert len((await client.get(serving(listener(b"x" * 100)))).content) == 100
        with pytest.raises(AgentReplyTooLargeError):
            await client.get(serving(listener(b"x" * 101)))
        with pytest.raises(AgentProtocolError, match="gzip"):
            await client.get(serving(listener(b"x", content_encoding="gzip")))


async def test_an_answer_that_drips_runs_into_the_limit_of_the_whole_call() -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    async with serve_raw(drips(head, b"x")) as url, guarded_client(OPEN, timeout_s=0.2) as client:
        with pytest.raises(httpx.ReadTimeout, match=r"within 0\.2 s"):
            await client.post(url, json={})


async def test_a_name_that_is_never_found_runs_into_it_too() -> None:
    async def names(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async with guarded_client(OPEN, timeout_s=0.1, resolver=names) as client:
        with pytest.raises(httpx.TimeoutException):
            await client.post("http://agents.example/", json={})


async def test_an_address_of_which_nothing_is_heard_is_not_allowed() -> None:
    async def names(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    assert not await is_allowed(PUBLIC, "http://silent.example/", resolver=names, timeout_s=0.01)


async def test_names_of_which_nothing_is_heard_keep_only_look_ups_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [] if heard.wait() else None)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    urls = [f"http://silent-{number}.example/" for number in range(3)]
    try:
        verdicts = await asyncio.gather(*(is_allowed(OPEN, url, timeout_s=0.01) for url in urls))
        async with asyncio.timeout(20):
            assert await asyncio.to_thread(threading.active_count)
    finally:
        heard.set()
    assert verdicts == [False, False, False]
