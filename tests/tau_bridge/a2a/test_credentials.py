"""Credentials of every kind against real servers: right, wrong, missing and expired ones."""

import base64
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tau_bridge.a2a.credentials import NONE, CredentialError, Credentials
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.errors import (
    AgentAccessError,
    AgentAuthRequiredError,
    AgentError,
    AgentForbiddenError,
    AgentUnreachableError,
)
from tau_bridge.recorder import TraceRecorder
from tests.fakes import RequestLog, closed_port, raw_grpc_agent, scripted_agent
from tests.fakes.raw import serve_raw, writes
from tests.fakes.shop import TokenServer, lets_in, with_card
from tests.tau_bridge.a2a.conftest import BRISK, Serving
from tests.tau_bridge.a2a.test_pinning import ANSWER, here

KEY = "a-key-of-many-letters+/="
KINDS: dict[str, tuple[Callable[[str], Credentials], Callable[[Request, str], bool]]] = {
    "bearer": (
        Credentials.of_bearer,
        lambda request, key: request.headers.get("authorization") == f"Bearer {key}",
    ),
    "basic": (
        lambda key: Credentials.of_basic(f"me:{key}"),
        lambda request, key: (
            request.headers.get("authorization", "").removeprefix("Basic ")
            == base64.b64encode(f"me:{key}".encode()).decode()
        ),
    ),
    "header": (
        lambda key: Credentials.of_header("X-API-Key", key),
        lambda request, key: request.headers.get("x-api-key") == key,
    ),
    "query": (
        lambda key: Credentials.of_query("key", key),
        lambda request, key: request.query_params.get("key") == key,
    ),
    "cookie": (
        lambda key: Credentials.of_cookie("session", key),
        lambda request, key: request.cookies.get("session") == key,
    ),
}


def says_who(text: str, context: str) -> str:
    return f"your key is {KEY}"


@asynccontextmanager
async def talking(
    url: str, credentials: Credentials, recorder: TraceRecorder, **options: Any
) -> AsyncIterator[Any]:
    messenger = Messenger(limits=BRISK, credentials={url: credentials}, **options)
    try:
        yield messenger.conversation(url, recorder=recorder)
    finally:
        await messenger.aclose()


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("kind", KINDS)
async def test_an_agent_answers_who_has_its_key_and_nobody_else(
    serving: Serving, recorder: TraceRecorder, kind: str, binding: str
) -> None:
    made, admits = KINDS[kind]
    agent = scripted_agent(says_who, bindings=(binding,))
    url = serving(lets_in(agent, lambda request: admits(request, KEY)))
    async with talking(url, made(KEY), recorder) as conversation:
        assert (await conversation.send("hello")).text == f"your key is {'*' * len(KEY)}"
    for wrong in (made("another-key-of-many-letters"), NONE):
        async with talking(url, wrong, recorder) as conversation:
            with pytest.raises(AgentAuthRequiredError, match="give the credentials") as caught:
                await conversation.send("hello")
        assert "another-key" not in str(caught.value)
    assert KEY not in recorder.trace().to_json()


@pytest.mark.parametrize("kind", KINDS)
async def test_they_go_to_their_own_agent_alone(
    serving: Serving, recorder: TraceRecorder, kind: str
) -> None:
    made, _ = KINDS[kind]
    other = RequestLog(scripted_agent(says_who))
    url = serving(other)
    messenger = Messenger(credentials={"http://127.0.0.1:1": made(KEY)})
    await messenger.conversation(url, recorder=recorder).send("hello")
    await messenger.aclose()
    assert all(
        KEY not in f"{each.path}{each.headers}" and "authorization" not in each.headers
        for each in other.requests
    )


async def test_several_go_together(serving: Serving, recorder: TraceRecorder) -> None:
    log = RequestLog(scripted_agent(says_who))
    both = Credentials.of_bearer("t0ken") | Credentials.of_header("X-Gateway", "through")
    async with talking(serving(log), both, recorder) as conversation:
        await conversation.send("hello")
    sent = {(each.headers["authorization"], each.headers["x-gateway"]) for each in log.requests}
    assert sent == {("Bearer t0ken", "through")}


async def test_the_query_of_an_interface_stays(serving: Serving, recorder: TraceRecorder) -> None:
    seen = []

    def note(request: Request) -> bool:
        seen.append(dict(request.query_params))
        return True

    interface = {"url": "/?tenant=one", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    agent = with_card(
        lets_in(scripted_agent(says_who), note),
        lambda card: card.update(supportedInterfaces=[interface]),
    )
    async with talking(serving(agent), Credentials.of_query("key", "k"), recorder) as conversation:
        await conversation.send("hello")
    assert seen[0] == {"tenant": "one", "key": "k"}


# --- OAuth 2.0 ---


SECRET = "s3cr3t!"


def client(url: str, secret: str = SECRET, scope: str = "") -> Credentials:
    return Credentials.of_client(f"{url}/token", f"me:{secret}", scope)


async def test_a_token_is_fetched_once_and_kept(serving: Serving, recorder: TraceRecorder) -> None:
    tokens = TokenServer()
    url = serving(lets_in(scripted_agent(says_who), tokens.admits))
    sent = client(serving(tokens), scope="read write")
    async with talking(url, sent, recorder) as conversation:
        for _ in range(3):
            await conversation.send("hello")
    assert tokens.scopes == ["read write"]


@pytest.mark.parametrize("expires_in", [0, 1e-9])
async def test_an_expired_token_is_renewed(
    serving: Serving, recorder: TraceRecorder, expires_in: float
) -> None:
    tokens = TokenServer(expires_in=expires_in)
    log = RequestLog(scripted_agent(says_who))
    async with talking(serving(log), client(serving(tokens)), recorder) as conversation:
        for _ in range(2):
            await conversation.send("hello")
    sent = [each.headers["authorization"] for each in log.posts]
    assert len(set(sent)) == 2


@pytest.mark.parametrize("expires_in", [None, 3600])
async def test_a_token_that_is_refused_is_renewed_once(
    serving: Serving, recorder: TraceRecorder, expires_in: float | None
) -> None:
    tokens = TokenServer(expires_in=expires_in)
    url = serving(lets_in(scripted_agent(says_who), tokens.admits))
    async with talking(url, client(serving(tokens)), recorder) as conversation:
        await conversation.send("hello")
        tokens.valid.clear()  # it was revoked
        await conversation.send("hello")
    assert len(tokens.scopes) == 2
    refusing = RequestLog(lets_in(scripted_agent(says_who), lambda request: False))
    async with talking(serving(refusing), client(serving(tokens)), recorder) as conversation:
        with pytest.raises(AgentAuthRequiredError):
            await conversation.send("hello")
    assert len(refusing.posts) == 2


async def test_a_token_is_seen_nowhere(serving: Serving, recorder: TraceRecorder) -> None:
    tokens = TokenServer()

    def tells(text: str, context: str) -> str:
        return f"your token is {tokens.valid[-1]}"

    async with talking(
        serving(scripted_agent(tells)), client(serving(tokens)), recorder
    ) as conversation:
        await conversation.send("hello")
    assert "token-of-many-letters" not in recorder.trace().to_json()


async def test_a_wrong_secret_names_the_server_and_not_the_secret(
    serving: Serving, recorder: TraceRecorder
) -> None:
    where = serving(TokenServer())
    url = serving(scripted_agent(says_who))
    async with talking(url, client(where, "wr0ng-secret"), recorder) as conversation:
        with pytest.raises(AgentAuthRequiredError, match="invalid_client") as caught:
            await conversation.send("hello")
    assert f"{where}/token" in str(caught.value)
    assert "wr0ng" not in str(caught.value)


async def test_a_server_that_gives_no_token_is_named(
    serving: Serving, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(says_who))
    no_server = serving(scripted_agent(says_who))  # answers 404 there
    async with talking(url, client(no_server), recorder) as conversation:
        with pytest.raises(AgentAccessError, match="which gave none: HTTP 404"):
            await conversation.send("hello")
    with closed_port() as nobody:
        async with talking(url, client(nobody), recorder) as conversation:
            with pytest.raises(AgentUnreachableError):
                await conversation.send("hello")


def gives(
    *, content: bytes = b"", status: int = 200, headers: dict[str, str] | None = None
) -> ASGIApp:
    """A token server with one answer."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(content, status, headers)(scope, receive, send)

    return app


async def is_silent(scope: Scope, receive: Receive, send: Send) -> None:
    """A token server that never answers."""
    while scope["type"] == "http" and (await receive())["type"] != "http.disconnect":
        pass  # until its client leaves


UNUSABLE: dict[str, tuple[ASGIApp, str]] = {
    "deep": (gives(content=b"[" * 50_000), "HTTP 200; check that this token server"),
    "large": (gives(content=b" " * 100_000), "an answer of more than 65536 bytes"),
    "compressed": (gives(headers={"Content-Encoding": "gzip"}), "a compressed answer"),
    "page": (gives(content=b"<html>"), "HTTP 200; check that this token server"),
    "broken": (gives(status=500), "HTTP 500; check that this token server"),
    "silent": (is_silent, r"no answer within 0\.05 s"),
}


@pytest.mark.parametrize("when", ["first", "later"])
@pytest.mark.parametrize("kind", UNUSABLE)
async def test_what_a_token_server_does_is_never_the_agents_fault(
    serving: Serving, recorder: TraceRecorder, kind: str, when: str
) -> None:
    unusable, said = UNUSABLE[kind]
    now: list[ASGIApp] = [unusable if when == "first" else TokenServer(expires_in=0)]

    async def token_server(scope: Scope, receive: Receive, send: Send) -> None:
        await now[0](scope, receive, send)

    url, where = serving(scripted_agent(says_who)), serving(token_server)
    # An answer that comes may take its time.
    limits = replace(BRISK, token_timeout_s=0.05) if kind == "silent" else BRISK
    messenger = Messenger(limits=limits, credentials={url: client(where)})
    conversation = messenger.conversation(url, recorder=recorder)
    if when == "later":
        await conversation.send("hello")
        now[0] = unusable
    with pytest.raises(AgentError, match=said) as caught:
        await conversation.send("hello")
    assert f"a token of '{where}/token', which gave none" in str(caught.value)
    assert caught.value.fault == "infrastructure"
    await messenger.aclose()


@pytest.mark.parametrize("lasts", ["9" * 400, "NaN", "-1", '"soon"', "true"])
async def test_a_token_that_lasts_nobody_knows_how_long_is_used(
    serving: Serving, recorder: TraceRecorder, lasts: str
) -> None:
    said = f'{{"access_token": "t0ken", "expires_in": {lasts}}}'
    log = RequestLog(scripted_agent(says_who))
    where = serving(gives(content=said.encode()))
    async with talking(serving(log), client(where), recorder) as conversation:
        await conversation.send("hello")
    assert log.posts[0].headers["authorization"] == "Bearer t0ken"


@pytest.mark.parametrize(
    "spelled",
    [
        lambda token: base64.b64encode(token.encode()).decode(),
        lambda token: base64.urlsafe_b64encode(token.encode()).decode(),
        lambda token: base64.b64encode(f"Bearer {token}".encode()).decode(),
        lambda token: base64.b64encode(f"{token} it was".encode()).decode(),
    ],
)
async def test_a_secret_in_base64_is_seen_nowhere(
    serving: Serving, recorder: TraceRecorder, spelled: Callable[[str], str]
) -> None:
    url = serving(scripted_agent(lambda text, context: f"it is {spelled(KEY)}, is it not?"))
    async with talking(url, Credentials.of_bearer(KEY), recorder) as conversation:
        await conversation.send("hello")
    assert spelled(KEY)[:16] not in recorder.trace().to_json()


async def test_the_network_policy_holds_for_the_token_server(
    serving: Serving, recorder: TraceRecorder
) -> None:
    url, where = serving(scripted_agent(says_who)), serving(TokenServer())
    policy = NetworkPolicy.public().allowing(url)
    async with talking(url, client(where), recorder, policy=policy) as conversation:
        with pytest.raises(AgentForbiddenError):
            await conversation.send("hello")


# --- gRPC ---


@pytest.mark.extras
async def test_a_key_in_the_query_is_not_sent_by_grpc(
    serving: Serving, recorder: TraceRecorder
) -> None:
    from tests.tau_bridge.a2a.test_grpc_transport import Agent, tells_metadata

    url = serving(raw_grpc_agent(Agent(tells_metadata)))
    async with talking(url, Credentials.of_query("key", "k"), recorder) as conversation:
        with pytest.raises(AgentAccessError, match="has no query for an API key"):
            await conversation.send("hello")


# --- Certificates ---


async def test_a_client_certificate_is_shown(
    certificate: Path, recorder: TraceRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    tls.load_verify_locations(certificate)
    tls.verify_mode = ssl.CERT_REQUIRED
    async with serve_raw(writes(ANSWER), tls=tls) as address:
        url = address.replace("127.0.0.1", "agents.example")
        shown = Credentials.of_certificate(certificate)
        async with talking(url, shown, recorder, resolver=here) as conversation:
            assert (await conversation.send("hello")).text == "hi"
        own_tls = ssl.create_default_context(cafile=str(certificate))
        async with talking(url, NONE, recorder, resolver=here, ssl_context=own_tls) as conversation:
            with pytest.raises(AgentUnreachableError):
                await conversation.send("hello")


# --- What cannot be one ---


@pytest.mark.parametrize(
    ("make", "value"),
    [
        *((Credentials.of_bearer, each) for each in ("", "two words", "line\nbreak", "tokén")),
        (Credentials.of_basic, "no-colon-here"),
        (lambda value: Credentials.of_header("X-Key", value), "line\nbreak"),
        (lambda value: Credentials.of_cookie("c", value), "a;b-secret"),
        (lambda value: Credentials.of_client("http://h/token", value), "no-colon-here"),
    ],
)
def test_what_cannot_be_sent_is_refused_without_showing_it(
    make: Callable[[str], Credentials], value: str
) -> None:
    with pytest.raises(CredentialError) as caught:
        make(value)
    assert not value or value not in str(caught.value)


def test_a_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    for text in ("", "-----BEGIN CERTIFICATE-----\n"):
        path = tmp_path / "client.pem"
        path.write_text(text)
        with pytest.raises(CredentialError, match=r"client\.pem' is no PEM file"):
            Credentials.of_certificate(path)
    with pytest.raises(CredentialError, match="No such file"):
        Credentials.of_certificate(tmp_path / "none.pem")


def test_nobody_sees_a_secret_by_printing_credentials() -> None:
    every = [made(KEY) for made, _ in KINDS.values()]
    every.append(Credentials.of_client("http://h/token", f"me:{KEY}"))
    assert not [each for each in every if KEY in repr(each)]
