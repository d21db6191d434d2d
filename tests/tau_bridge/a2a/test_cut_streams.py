"""Streams of replies that are cut off: the client goes on as one does whose connection broke."""

import asyncio
import contextlib

import pytest

from tau_bridge.a2a.messenger import Messenger
from tau_bridge.chaos.injector import INJECTED, Injector
from tests.fakes import scripted_agent, serve

pytestmark = pytest.mark.requirement("test:chaos")
SAID = "The whole reply, in many small parts."
AFTER = {0: 1, 1: 2, 2: 8}
"""Seeds by the number of events that arrive before the first message's stream is cut off."""


def injector(seed):
    return Injector("shop/1", seed=seed, rates={"cut_stream": 1.0})


async def heard(recorder, url, seed):
    faults = injector(seed)
    async with contextlib.aclosing(Messenger()) as messenger:
        conversation = messenger.conversation(url, recorder=recorder, faults=faults)
        reply = await conversation.send("one")
    [step] = recorder.trace().steps
    return reply, faults.faults, step.additional_attributes


def agent(calls, **options):
    async def answer(text, context_id):
        calls.append(context_id)
        await asyncio.sleep(0)
        return SAID

    return scripted_agent(answer, **options)


def test_the_seeds_cut_after_as_many_events_as_these_tests_say():
    for after, seed in AFTER.items():
        faults = injector(seed)
        assert faults.next_message() == "cut_stream"
        assert faults.events_before_cut() == after


@pytest.mark.parametrize("protocols", [("1.0",), ("0.3",)])
@pytest.mark.parametrize("after", [1, 2])
async def test_a_task_that_is_known_is_asked_for_again_and_the_reply_is_whole(
    recorder, after, protocols
):
    calls = []
    app = agent(calls, reply_transport="artifact_chunks", protocols=protocols)
    with serve(app) as url:
        reply, faults, attributes = await heard(recorder, url, AFTER[after])
    assert reply.as_text() == SAID
    assert len(calls) == 1
    assert attributes[INJECTED] == "cut_stream"
    noun = "event" if after == 1 else "events"
    assert [each.detail for each in faults] == [f"after {after} {noun}, then asked for its task"]
    assert int(attributes["polls"]) > 0


async def test_before_a_task_is_known_the_message_is_sent_again(recorder):
    calls = []
    with serve(agent(calls, reply_transport="message")) as url:
        reply, faults, _ = await heard(recorder, url, AFTER[0])
    assert (reply.as_text(), len(calls)) == (SAID, 2)
    assert [each.detail for each in faults] == ["after 0 events, then sent again"]


@pytest.mark.parametrize(
    ("after", "options"), [(1, {"reply_transport": "message"}), (0, {"streaming": False})]
)
async def test_an_answer_that_is_over_or_no_stream_is_not_cut_off(recorder, after, options):
    calls = []
    with serve(agent(calls, **options)) as url:
        reply, faults, attributes = await heard(recorder, url, AFTER[after])
    assert (reply.as_text(), len(calls), faults) == (SAID, 1, [])
    assert INJECTED not in attributes


@pytest.mark.extras
@pytest.mark.parametrize("after", [0, 1])
async def test_over_grpc_a_stream_is_cut_off_and_gone_on_with_as_over_http(recorder, after):
    pytest.importorskip("grpc", reason="the extra grpc is not installed: make setup_all")
    calls = []
    app = agent(calls, reply_transport="artifact_chunks", bindings=("GRPC",), protocols=("1.0",))
    with serve(app) as url:
        reply, faults, _ = await heard(recorder, url, AFTER[after])
    assert reply.as_text() == SAID
    assert len(faults) == 1
