"""A certificate is held against the name in the URL, though the connection goes to an address."""

import ssl
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest

from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.pinning import pin
from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.a2a.screening import guarded_client
from tau_bridge.errors import AgentUnreachableError
from tau_bridge.recorder import TraceRecorder
from tests.fakes import sse
from tests.fakes.raw import serve_raw, writes

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + sse(
    {"message": {"messageId": "m", "parts": [{"text": "hi"}]}}
)


@pytest.fixture
def server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


async def here(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


@pytest.mark.parametrize(
    ("host", "is_trusted"), [("agents.example", True), ("impostor.example", False)]
)
async def test_a_conversation_trusts_the_name_and_nothing_else(
    server_tls: ssl.SSLContext,
    client_tls: ssl.SSLContext,
    recorder: TraceRecorder,
    host: str,
    is_trusted: bool,
) -> None:
    messenger = Messenger(ssl_context=client_tls, resolver=here)
    async with serve_raw(writes(ANSWER), tls=server_tls) as url:
        conversation = messenger.conversation(url.replace("127.0.0.1", host), recorder=recorder)
        if is_trusted:
            assert (await conversation.send("hello")).text == "hi"
        else:
            with pytest.raises(AgentUnreachableError, match="certificate"):
                await conversation.send("hello")
        await messenger.aclose()


async def test_a_single_call_trusts_the_name_and_nothing_else(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    policy = NetworkPolicy.open()
    async with (
        serve_raw(writes(ANSWER), tls=server_tls) as url,
        guarded_client(policy, resolver=here, ssl_context=client_tls) as client,
    ):
        answer = await client.post(url.replace("127.0.0.1", "agents.example"), json={})
        assert answer.status_code == 200
        for other in (url, url.replace("127.0.0.1", "impostor.example")):
            with pytest.raises(httpx.ConnectError, match="certificate"):
                await client.post(other, json={})


def test_a_pinned_request_differs_in_where_it_goes_alone() -> None:
    request = httpx.Request("POST", "https://Agents.Example.:8443/a?b=c", json={"d": 1})
    sent = pin(request, "2606:4700::1111")
    assert str(sent.url) == "https://[2606:4700::1111]:8443/a?b=c"
    assert sent.headers == request.headers
    assert sent.headers["host"] == "agents.example.:8443"
    assert sent.extensions["sni_hostname"] == "agents.example"
    assert sent.stream is request.stream
