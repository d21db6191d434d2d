"""What the messenger warrants, over every transport that it speaks."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.errors import (
    AgentError,
    AgentFailedError,
    AgentRejectedError,
    AgentReplyTooLargeError,
    AgentSilentError,
)
from tau_bridge.recorder import TraceRecorder
from tests.fakes import scripted_agent, serve

Reaching = Callable[..., AbstractAsyncContextManager[tuple[Messenger, str]]]

LIMITS = MessengerLimits(retry_wait_s=0.001, cancel_timeout_s=0.1)
ADDRESS = "http://shop.test"


def echo(text: str, _: str) -> str:
    return f"you said {text}"


@pytest.fixture(params=["JSONRPC", "HTTP+JSON", "GRPC", "in-process"])
def reaching(request: pytest.FixtureRequest) -> Reaching:
    """Makes a scripted agent and a messenger that reaches it over one transport."""
    if request.param == "GRPC":
        pytest.importorskip("grpc", reason="the extra grpc is not installed: make setup_all")

    @contextlib.asynccontextmanager
    async def reach(
        reply_fn: Any,
        *,
        limits: MessengerLimits = LIMITS,
        **options: Any,
    ) -> AsyncIterator[tuple[Messenger, str]]:
        async with contextlib.AsyncExitStack() as stack:
            if request.param == "in-process":
                app = scripted_agent(reply_fn, **options)
                await stack.enter_async_context(app.router.lifespan_context(app))
                url, apps = ADDRESS, {ADDRESS: app}
            else:
                app = scripted_agent(reply_fn, bindings=(request.param,), **options)
                url, apps = stack.enter_context(serve(app)), {}
            messenger = Messenger(limits=limits, apps=apps)
            stack.push_async_callback(messenger.aclose)
            yield messenger, url

    return reach


@pytest.mark.requirement("seam:transport")
@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("protocol", ["1.0", "0.3"])
async def test_a_conversation_keeps_its_context_over_every_transport(
    reaching: Reaching, recorder: TraceRecorder, protocol: str, streaming: bool
) -> None:
    contexts: list[str] = []

    def answer(text: str, context_id: str) -> str:
        contexts.append(context_id)
        return echo(text, context_id)

    async with reaching(answer, protocols=(protocol,), streaming=streaming) as (messenger, url):
        conversation = messenger.conversation(url, recorder=recorder)
        replies = [await conversation.send(word) for word in ("one", "two")]
    assert [(reply.text, reply.state) for reply in replies] == [
        ("you said one", "completed"),
        ("you said two", "completed"),
    ]
    assert contexts == [conversation.context_id] * 2
    steps = recorder.trace().steps
    assert [step.response_text for step in steps] == ["you said one", "you said two"]
    assert all(int(step.additional_attributes["reply_bytes"]) > 0 for step in steps)


@pytest.mark.parametrize("reply_transport", ["artifact_data", "artifact_chunks", "message"])
async def test_texts_and_whole_numbers_arrive_over_every_transport(
    reaching: Reaching, recorder: TraceRecorder, reply_transport: str
) -> None:
    answer: Any = "a long answer" if reply_transport == "artifact_chunks" else {"n": 3}
    async with reaching(lambda *_: answer, reply_transport=reply_transport) as (messenger, url):
        reply = await messenger.conversation(url, recorder=recorder).send("hi")
    assert (reply.text or reply.data[0]) == answer
    assert not reply.data or isinstance(reply.data[0]["n"], int)


async def test_a_task_that_waits_for_input_is_continued_over_every_transport(
    reaching: Reaching, recorder: TraceRecorder
) -> None:
    async with reaching(echo, state="input_required") as (messenger, url):
        conversation = messenger.conversation(url, recorder=recorder)
        first, second = [await conversation.send(word) for word in ("one", "two")]
    assert (first.state, second.text) == ("input-required", "you said two")
    assert first.task_id == second.task_id


@pytest.mark.parametrize(
    ("state", "kind"), [("failed", AgentFailedError), ("rejected", AgentRejectedError)]
)
async def test_a_task_that_its_agent_ends_is_the_agents_fault_over_every_transport(
    reaching: Reaching, recorder: TraceRecorder, state: str, kind: type[AgentError]
) -> None:
    async with reaching(lambda *_: "the model is gone", state=state) as (messenger, url):
        with pytest.raises(kind, match="the model is gone") as caught:
            await messenger.conversation(url, recorder=recorder).send("hi")
    assert caught.value.fault == "agent"


@pytest.mark.parametrize("streaming", [True, False])
async def test_an_answer_that_is_too_long_is_not_read_over_any_transport(
    reaching: Reaching, recorder: TraceRecorder, streaming: bool
) -> None:
    limits = MessengerLimits(max_reply_bytes=10_000)
    talkative = reaching(lambda *_: "x" * 20_000, limits=limits, streaming=streaming)
    async with talkative as (messenger, url):
        with pytest.raises(AgentReplyTooLargeError, match="more than 10000 bytes"):
            await messenger.conversation(url, recorder=recorder).send("hi")
    (step,) = recorder.trace().steps
    assert step.error is not None


async def test_an_agent_that_gives_no_reply_is_silent_over_every_transport(
    reaching: Reaching, recorder: TraceRecorder
) -> None:
    async def stall(*_: str) -> str:
        await asyncio.Event().wait()
        return ""

    limits = MessengerLimits(timeout_s=0.5, cancel_timeout_s=0.1)
    async with reaching(stall, limits=limits) as (messenger, url):
        with pytest.raises(AgentSilentError, match="although its card answers"):
            await messenger.conversation(url, recorder=recorder).send("hi")


async def test_a_cancelled_message_is_recorded_over_every_transport(
    reaching: Reaching, recorder: TraceRecorder
) -> None:
    arrived, loop = asyncio.Event(), asyncio.get_running_loop()

    async def stall(*_: str) -> str:
        loop.call_soon_threadsafe(arrived.set)
        await asyncio.Event().wait()
        return ""

    async with reaching(stall) as (messenger, url):
        sending = asyncio.create_task(messenger.conversation(url, recorder=recorder).send("hi"))
        await arrived.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
    assert [step.error for step in recorder.trace().steps] == ["cancelled"]


async def test_many_conversations_at_once_have_contexts_of_their_own_over_every_transport(
    reaching: Reaching, recorder: TraceRecorder
) -> None:
    waiting: list[str] = []
    all_here: list[asyncio.Event] = []

    async def wait_for_all(text: str, context_id: str) -> str:
        waiting.append(context_id)
        if not all_here:
            all_here.append(asyncio.Event())
        if len(waiting) == 20:
            all_here[0].set()
        await all_here[0].wait()
        return text

    async with reaching(wait_for_all) as (messenger, url):
        talks = [messenger.conversation(url, recorder=recorder) for _ in range(20)]
        replies = await asyncio.gather(*(talk.send(f"{i}") for i, talk in enumerate(talks)))
    assert [reply.text for reply in replies] == [f"{i}" for i in range(20)]
    assert len(set(waiting)) == 20
