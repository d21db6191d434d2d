"""A certificate is held against the name in the URL, though the connection goes to an address."""

import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.pinning import pinned
from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.a2a.screening import guarded_client
from tau_bridge.errors import AgentUnreachableError
from tau_bridge.recorder import TraceRecorder
from tau_bridge.testing import sse
from tau_bridge.testing.raw import serve_raw, writes

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + sse(
    {"message": {"messageId": "m", "parts": [{"text": "hi"}]}}
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for agents.example that vouches for itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "agents.example")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("agents.example")]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "agent.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@pytest.fixture
def server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


@pytest.fixture
def client_tls(certificate: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(certificate))


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
    sent = pinned(request, "2606:4700::1111")
    assert str(sent.url) == "https://[2606:4700::1111]:8443/a?b=c"
    assert sent.headers == request.headers
    assert sent.headers["host"] == "agents.example.:8443"
    assert sent.extensions["sni_hostname"] == "agents.example"
    assert sent.stream is request.stream
