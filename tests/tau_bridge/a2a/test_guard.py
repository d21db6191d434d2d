"""How connections are used, seen from the agent's end."""

import asyncio

import httpx
import pytest

from tau_bridge.a2a.guard import Exchange, GuardedTransport, default_ssl_context, exchange
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.policy import Gate, NetworkPolicy
from tau_bridge.a2a.pool import PooledTransport
from tau_bridge.errors import AgentReplyTooLargeError, AgentSilentError
from tau_bridge.recorder import TraceRecorder
from tests.fakes import RequestLog, keeps_stream_open, never_ends, scripted_agent

from .conftest import Serving


def echo(text: str, _: str) -> str:
    return text


def ports(log: RequestLog) -> list[int]:
    return [request.client_port for request in log.requests]


async def test_one_connection_serves_messages_that_follow_each_other(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    url = serving(log)
    for _ in range(3):  # conversations share what is idle
        conversation = messenger.conversation(url, recorder=recorder)
        for word in "abc":
            await conversation.send(word)
    assert len(log.requests) == 10
    assert len(set(ports(log))) == 1


async def test_messages_at_once_have_a_connection_each_and_keep_it(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    waiting: list[asyncio.Event] = []
    here = 0

    async def all_three(text: str, _: str) -> str:
        nonlocal here
        waiting.append(asyncio.Event())
        here += 1
        if here % 3 == 0:
            for event in waiting:
                event.set()
        await waiting[-1].wait() if here % 3 else None
        return text

    log = RequestLog(scripted_agent(all_three))
    url = serving(log)
    talks = [messenger.conversation(url, recorder=recorder) for _ in range(3)]
    for word in ("one", "two"):
        await asyncio.gather(*(talk.send(word) for talk in talks))
    assert len(log.posts) == 6
    assert len({request.client_port for request in log.posts}) == 3


async def test_a_connection_that_was_idle_too_long_is_not_used_again(
    serving: Serving, recorder: TraceRecorder
) -> None:
    messenger = Messenger(limits=MessengerLimits(keepalive_s=1e-9))
    log = RequestLog(scripted_agent(echo))
    conversation = messenger.conversation(serving(log), recorder=recorder)
    await conversation.send("one")
    await conversation.send("two")
    await messenger.aclose()
    assert len(set(ports(log))) == 3


async def test_a_stream_that_was_left_open_costs_its_connection(
    serving: Serving, brisk: Messenger, recorder: TraceRecorder
) -> None:
    log = RequestLog(keeps_stream_open())
    conversation = brisk.conversation(serving(log), recorder=recorder)
    await conversation.send("one")
    await conversation.send("two")
    assert len({request.client_port for request in log.posts}) == 2


async def test_a_connection_that_was_cut_off_does_not_block_the_next_message(
    serving: Serving, impatient: Messenger, recorder: TraceRecorder
) -> None:
    stuck = True
    agent, endless = scripted_agent(echo), never_ends()

    async def app(scope, receive, send):  # type: ignore[no-untyped-def]
        is_message = scope["type"] == "http" and scope["method"] == "POST"
        await (endless if stuck and is_message else agent)(scope, receive, send)

    conversation = impatient.conversation(serving(app), recorder=recorder)
    with pytest.raises(AgentSilentError):
        await conversation.send("one")
    stuck = False
    # The endless task gave a context id that the other agent is sent; it takes it as it is.
    assert (await conversation.send("two")).text == "two"


async def test_a_body_longer_than_allowed_is_cut_off_where_the_limit_is(serving: Serving) -> None:
    gate = Gate(NetworkPolicy.open())
    pool = PooledTransport(gate, ssl_context=default_ssl_context(), keepalive_s=4.0)
    transport = GuardedTransport(pool)
    current = Exchange(url="http://agent", max_bytes=10_000)
    with exchange(current):
        async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
            with pytest.raises(AgentReplyTooLargeError):
                await client.post(serving(never_ends()), json={})
    # One event at a time, so the limit is passed by less than one event.
    assert 10_000 < current.received_bytes < 10_500


def test_all_messengers_share_one_tls_context() -> None:
    assert default_ssl_context() is default_ssl_context()
