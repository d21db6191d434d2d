import asyncio
import json
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from evals.trace import CallType, Provenance
from tau_bridge.a2a.credentials import Credentials
from tau_bridge.a2a.extensions import (
    REQUESTED_EXTENSIONS,
    TIMESTAMP_SAMPLE_URI,
    TIMESTAMP_URI,
    TRACEABILITY_KEY,
    TRACEABILITY_URI,
)
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.errors import (
    AgentAccessError,
    AgentError,
    AgentProtocolError,
    AgentUnreachableError,
)
from tau_bridge.recorder import TraceRecorder
from tests.fakes import (
    RequestLog,
    changes_context,
    drops_kept_connections,
    keeps_stream_open,
    raw_agent,
    scripted_agent,
    sse,
    task_event,
)

from .conftest import Serving


def echo(text: str, _: str) -> str:
    return f"you said {text}"


ANSWER = {"name": "respond", "arguments": {"content": "hi", "n": 3}}


@pytest.mark.requirement("a2a:client")
@pytest.mark.parametrize("streaming", [True, False])
@pytest.mark.parametrize("protocol", ["1.0", "0.3"])
@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
async def test_agents_of_both_protocols_and_transports_answer(
    serving: Serving,
    messenger: Messenger,
    recorder: TraceRecorder,
    protocol: Any,
    binding: Any,
    streaming: bool,
) -> None:
    app = scripted_agent(echo, protocols=(protocol,), bindings=(binding,), streaming=streaming)
    conversation = messenger.conversation(serving(app), recorder=recorder)
    for word in ("one", "two"):
        reply = await conversation.send(word)
        assert (reply.text, reply.state) == (f"you said {word}", "completed")
    assert [step.error for step in recorder.trace().steps] == [None, None]


@pytest.mark.parametrize("protocol", ["1.0", "0.3"])
@pytest.mark.parametrize(
    ("reply_transport", "source", "state"),
    [
        ("artifact_text", "artifact", "completed"),
        ("artifact_chunks", "artifact", "completed"),
        ("status", "status", "completed"),
        ("message", "message", None),
    ],
)
async def test_a_text_arrives_by_whatever_way_it_travels(
    serving: Serving,
    messenger: Messenger,
    recorder: TraceRecorder,
    protocol: Any,
    reply_transport: Any,
    source: str,
    state: str | None,
) -> None:
    app = scripted_agent(echo, reply_transport=reply_transport, protocols=(protocol,))
    reply = await messenger.conversation(serving(app), recorder=recorder).send("hello")
    assert (reply.text, reply.source, reply.state) == ("you said hello", source, state)


@pytest.mark.parametrize("protocol", ["1.0", "0.3"])
@pytest.mark.parametrize("reply_transport", ["artifact_data", "status", "message"])
async def test_data_arrives_with_its_integers(
    serving: Serving,
    messenger: Messenger,
    recorder: TraceRecorder,
    protocol: Any,
    reply_transport: Any,
) -> None:
    app = scripted_agent(
        lambda _text, _context: ANSWER, reply_transport=reply_transport, protocols=(protocol,)
    )
    reply = await messenger.conversation(serving(app), recorder=recorder).send("hello")
    assert reply.data == (ANSWER,)
    assert isinstance(reply.data[0]["arguments"]["n"], int)


async def test_the_first_context_id_goes_along_with_every_later_message(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    conversation = messenger.conversation(serving(log), recorder=recorder)
    assert conversation.context_id is None
    first = await conversation.send("one")
    await conversation.send("two")
    await conversation.send("three")
    sent = [post.message().get("contextId") for post in log.posts]
    assert sent == [None, first.context_id, first.context_id]
    assert conversation.context_id == first.context_id


async def test_two_conversations_have_contexts_of_their_own(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(lambda _text, context: context))
    one = messenger.conversation(url, recorder=recorder)
    two = messenger.conversation(url, recorder=recorder)
    replies = await asyncio.gather(one.send("a"), two.send("a"))
    assert replies[0].text != replies[1].text
    assert (await one.send("b")).text == replies[0].text
    assert (await two.send("b")).text == replies[1].text


async def test_an_agent_that_changes_its_context_is_still_sent_the_first_one(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    conversation = messenger.conversation(serving(changes_context()), recorder=recorder)
    first = await conversation.send("one")
    second = await conversation.send("two")
    third = await conversation.send("three")
    # This agent answers with the context id that it was sent.
    assert second.text == third.text == first.context_id == conversation.context_id
    noted = [
        step.additional_attributes.get("context_id_changed") for step in recorder.trace().steps
    ]
    assert noted == [None, second.context_id, third.context_id]


async def test_a_task_that_waits_for_input_is_continued(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo, state="input_required"))
    conversation = messenger.conversation(serving(log), recorder=recorder)
    first = await conversation.send("one")
    second = await conversation.send("two")
    assert (first.state, second.state) == ("input-required", "input-required")
    assert second.text == "you said two"
    assert [post.message().get("taskId") for post in log.posts] == [None, first.task_id]
    assert second.task_id == first.task_id


async def test_a_completed_task_is_not_continued(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    conversation = messenger.conversation(serving(log), recorder=recorder)
    first = await conversation.send("one")
    second = await conversation.send("two")
    assert [post.message().get("taskId") for post in log.posts] == [None, None]
    assert first.task_id != second.task_id


async def test_metadata_goes_along_with_the_first_message_only(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    conversation = messenger.conversation(
        serving(log), recorder=recorder, metadata={"trial": 2, "tags": ["a"]}
    )
    await conversation.send("one")
    await conversation.send("two")
    sent = [post.message().get("metadata") for post in log.posts]
    assert sent == [{"trial": 2, "tags": ["a"]}, None]


async def test_every_message_is_one_step_of_the_trace(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(echo))
    conversation = messenger.conversation(url, recorder=recorder, callee="agent")
    replies = [await conversation.send("one"), await conversation.send("two")]
    first, second = recorder.trace().steps
    assert (first.step_id, second.step_id) == ("step-1", "step-2")
    assert [reply.step_id for reply in replies] == ["step-1", "step-2"]
    for step, word, reply in ((first, "one", replies[0]), (second, "two", replies[1])):
        assert (step.call_type, step.provenance) == (CallType.AGENT, Provenance.OBSERVED)
        assert (step.caller, step.callee) == ("green-agent", "agent")
        assert (step.request_text, step.response_text) == (word, f"you said {word}")
        assert step.error is None
        assert step.latency_ms == 1000.0
        attributes = step.additional_attributes
        assert attributes["agent_url"] == url
        assert attributes["context_id"] == reply.context_id
        assert attributes["task_id"] == reply.task_id
        assert attributes["state"] == "completed"
        assert attributes["reply_from"] == "artifact"


async def test_a_step_names_the_address_where_nobody_named_the_callee(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(echo))
    await messenger.conversation(f"{url}/", recorder=recorder).send("one")
    assert recorder.trace().steps[0].callee == url


async def test_data_is_in_the_recorded_reply(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(lambda _t, _c: {"name": "x"}, reply_transport="artifact_data"))
    await messenger.conversation(url, recorder=recorder).send("one")
    assert recorder.trace().steps[0].response_text == '{"name": "x"}'


@pytest.mark.requirement("a2a:activation")
async def test_the_extensions_are_asked_for_in_both_spellings(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    await messenger.conversation(serving(log), recorder=recorder).send("one")
    headers = log.posts[0].headers
    asked = set(headers["a2a-extensions"].split(","))
    assert asked == {TRACEABILITY_URI, TIMESTAMP_URI, TIMESTAMP_SAMPLE_URI}
    assert headers["x-a2a-extensions"] == headers["a2a-extensions"]
    assert headers["accept-encoding"] == "identity"
    assert set(REQUESTED_EXTENSIONS) == asked
    assert TRACEABILITY_KEY.startswith("github.com/")
    assert TRACEABILITY_KEY.endswith("/v1/traceability")


async def test_reports_beyond_the_limit_of_a_conversation_are_left_out_and_counted(
    serving: Serving, recorder: TraceRecorder
) -> None:
    def two_reports(text: str, _: str) -> str:
        return "\n".join(
            json.dumps({"traceId": f"{text}-{number}", "steps": []}) for number in (1, 2)
        )

    messenger = Messenger(limits=MessengerLimits(max_reports=3))
    conversation = messenger.conversation(serving(scripted_agent(two_reports)), recorder=recorder)
    for text, left_out in (("one", 0), ("two", 1), ("three", 3)):
        await conversation.send(text)
        assert conversation.reports_left_out == left_out
    await messenger.aclose()
    kept = [report.value["traceId"] for report in conversation.reports]
    assert kept == ["one-1", "one-2", "two-1"]


@pytest.mark.requirement("a2a:auth")
async def test_a_token_goes_to_its_own_agent_alone(
    serving: Serving, recorder: TraceRecorder
) -> None:
    known, other = RequestLog(scripted_agent(echo)), RequestLog(scripted_agent(echo))
    known_url, other_url = serving(known), serving(other)
    messenger = Messenger(credentials={f"{known_url}/": Credentials.of_bearer("s3cret")})
    for url in (known_url, other_url):
        await messenger.conversation(url, recorder=recorder).send("one")
    await messenger.aclose()
    assert {request.headers.get("authorization") for request in known.requests} == {"Bearer s3cret"}
    assert {request.headers.get("authorization") for request in other.requests} == {None}


async def test_a_secret_that_an_agent_repeats_is_not_recorded(
    serving: Serving, recorder: TraceRecorder
) -> None:
    async def repeat(request: Request) -> Response:
        return Response(request.headers["authorization"], status_code=500)

    parrot = serving(raw_agent(repeat))
    polite = serving(scripted_agent(lambda _t, _c: "your token is s3cret"))
    messenger = Messenger(
        credentials=dict.fromkeys((parrot, polite), Credentials.of_bearer("s3cret"))
    )
    with pytest.raises(AgentProtocolError) as caught:
        await messenger.conversation(parrot, recorder=recorder).send("one")
    await messenger.conversation(polite, recorder=recorder).send("one")
    await messenger.aclose()
    assert "s3cret" not in str(caught.value)
    assert "s3cret" not in recorder.trace().to_json()


async def test_the_card_tells_who_the_agent_is(serving: Serving, messenger: Messenger) -> None:
    url = serving(scripted_agent(echo, name="Purple", bindings=("HTTP+JSON", "JSONRPC")))
    info = await messenger.card(url)
    assert (info.name, info.version) == ("Purple", "1.2.3")
    assert info.description == "Answers as it was told to."
    assert info.url == url
    assert info.protocol_versions == ("1.0", "0.3")
    assert info.transports == ("HTTP+JSON", "JSONRPC")
    assert (info.transport, info.protocol_version) == ("HTTP+JSON", "1.0")
    assert info.skills == ("Talk",)
    assert info.extensions == ()
    assert info.security_schemes == ()
    assert info.streaming
    assert info.endpoint == f"{url}/"


@pytest.mark.requirement("a2a:cache")
async def test_the_card_is_fetched_once_however_many_ask(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    url = serving(log)
    talks = [messenger.conversation(url, recorder=recorder) for _ in range(5)]
    await asyncio.gather(messenger.card(f"{url}/"), *(talk.send("one") for talk in talks))
    assert sum(request.method == "GET" for request in log.requests) == 1
    assert len(log.posts) == 5


async def test_a_card_that_could_not_be_had_is_asked_for_again(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    agent = scripted_agent(echo)
    fail = True

    async def flaky(scope: Any, receive: Any, send: Any) -> None:
        if fail and scope["type"] == "http":
            await JSONResponse({}, status_code=503)(scope, receive, send)
        else:
            await agent(scope, receive, send)

    url = serving(flaky)
    with pytest.raises(AgentUnreachableError):
        await messenger.card(url)
    fail = False
    assert (await messenger.card(url)).name == "scripted"


async def test_an_agent_in_a_container_is_called_where_the_user_reached_it(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(echo, interface_url="http://0.0.0.0:9009/"))
    info = await messenger.card(url)
    assert info.advertised == ("http://0.0.0.0:9009/",)
    assert info.endpoint == f"{url}/"
    reply = await messenger.conversation(url, recorder=recorder).send("hi")
    assert reply.text == "you said hi"


async def test_a_card_that_points_to_another_host_is_refused(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    # Reaching it would fail the test: only loopback connections are let through.
    url = serving(scripted_agent(echo, interface_url="http://192.0.2.1:9009/"))
    with pytest.raises(AgentAccessError, match=r"another host.*192\.0\.2\.1.*--card-url"):
        await messenger.conversation(url, recorder=recorder).send("hi")


async def test_a_stream_left_open_after_the_end_does_not_delay_the_reply(
    serving: Serving, brisk: Messenger, recorder: TraceRecorder
) -> None:
    conversation = brisk.conversation(serving(keeps_stream_open("done")), recorder=recorder)
    assert [(await conversation.send(word)).text for word in "abc"] == ["done"] * 3


async def test_a_task_whose_agent_stopped_telling_is_asked_for(
    serving: Serving, brisk: Messenger, recorder: TraceRecorder
) -> None:
    asked: list[str] = []

    async def answer(request: Request) -> Response:
        method = (await request.json())["method"]
        asked.append(method)
        if method == "SendStreamingMessage":
            return Response(sse(task_event("TASK_STATE_WORKING")), media_type="text/event-stream")
        done = asked.count("GetTask") == 3
        state = "TASK_STATE_COMPLETED" if done else "TASK_STATE_WORKING"
        artifact = {"artifactId": "a", "parts": [{"text": "at last"}]}
        result = task_event(state, artifacts=[artifact] if done else [])["task"]
        return JSONResponse({"jsonrpc": "2.0", "id": "1", "result": result})

    url = serving(raw_agent(answer))
    reply = await brisk.conversation(url, recorder=recorder).send("hi")
    assert reply.text == "at last"
    assert asked == ["SendStreamingMessage", "GetTask", "GetTask", "GetTask"]
    assert recorder.trace().steps[0].additional_attributes["polls"] == "3"


async def test_a_kept_connection_that_broke_is_replaced_and_the_message_repeated(
    messenger: Messenger, recorder: TraceRecorder
) -> None:
    with drops_kept_connections() as agent:
        conversation = messenger.conversation(agent.url, recorder=recorder)
        assert (await conversation.send("one")).text == "answer 1"
        # The second message reaches the old connection, is dropped, and comes again.
        assert (await conversation.send("two")).text == "answer 3"
        first, dropped, repeated = agent.message_ids
    assert dropped == repeated != first
    retries = [s.additional_attributes.get("retries") for s in recorder.trace().steps]
    assert retries == [None, "1"]


async def test_a_message_that_is_dropped_again_and_again_is_given_up(
    messenger: Messenger, recorder: TraceRecorder
) -> None:
    with drops_kept_connections(also_new_ones=True) as agent:
        await messenger.card(agent.url)
        with pytest.raises(AgentUnreachableError):
            await messenger.conversation(agent.url, recorder=recorder).send("one")
        # Once over the connection that the card came by, then over four new ones: the same message.
        assert len(agent.message_ids) == 5
        assert len(set(agent.message_ids)) == 1


async def test_many_conversations_run_at_once(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    together = asyncio.Event
    waiting = 0
    all_here: list[asyncio.Event] = []

    async def wait_for_all(text: str, _: str) -> str:
        nonlocal waiting
        if not all_here:
            all_here.append(together())
        waiting += 1
        if waiting == 60:
            all_here[0].set()
        await all_here[0].wait()
        return text

    url = serving(scripted_agent(wait_for_all))
    talks = [messenger.conversation(url, recorder=recorder) for _ in range(60)]
    # None is answered before the last one has arrived.
    replies = await asyncio.gather(*(talk.send(f"{i}") for i, talk in enumerate(talks)))
    assert [reply.text for reply in replies] == [f"{i}" for i in range(60)]


async def test_a_cancelled_message_is_recorded_and_the_cancellation_goes_on(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    arrived = asyncio.Event()
    loop = asyncio.get_running_loop()

    async def stall(_text: str, _context: str) -> str:
        loop.call_soon_threadsafe(arrived.set)
        await asyncio.Event().wait()
        return ""

    conversation = messenger.conversation(serving(scripted_agent(stall)), recorder=recorder)
    sending = asyncio.create_task(conversation.send("one"))
    await arrived.wait()
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    (step,) = recorder.trace().steps
    assert step.error == "cancelled"
    assert step.response_text is None


async def test_one_caller_that_gives_up_does_not_take_the_card_from_the_others(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    url = serving(scripted_agent(echo))
    hasty = asyncio.create_task(messenger.card(url))
    patient = asyncio.create_task(messenger.card(url))
    await asyncio.sleep(0)
    hasty.cancel()
    assert (await patient).name == "scripted"
    with pytest.raises(asyncio.CancelledError):
        await hasty


async def test_a_conversation_takes_one_message_at_a_time(
    serving: Serving, messenger: Messenger, recorder: TraceRecorder
) -> None:
    conversation = messenger.conversation(serving(scripted_agent(echo)), recorder=recorder)
    sending = asyncio.create_task(conversation.send("one"))
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="still due"):
        await conversation.send("two")
    await sending
    await conversation.aclose()
    with pytest.raises(RuntimeError, match="closed"):
        await conversation.send("three")
    assert len(recorder.trace().steps) == 1


@pytest.mark.requirement("a2a:cache")
async def test_a_messenger_may_be_closed_twice_and_then_says_so(
    serving: Serving, recorder: TraceRecorder
) -> None:
    messenger = Messenger()
    url = serving(scripted_agent(echo))
    await messenger.conversation(url, recorder=recorder).send("one")
    await messenger.aclose()
    await messenger.close()
    with pytest.raises(RuntimeError, match="closed"):
        messenger.conversation(url, recorder=recorder)


@pytest.mark.parametrize(
    "url", ["localhost:9010", "ftp://me:hunter2@h/", "http://me:hunter2@h/", ""]
)
async def test_what_is_not_an_address_is_said_before_anything_is_sent(
    messenger: Messenger, recorder: TraceRecorder, url: str
) -> None:
    with pytest.raises(AgentUnreachableError, match="http://") as caught:
        messenger.conversation(url, recorder=recorder)
    assert isinstance(caught.value, AgentError)
    assert "hunter2" not in f"{caught.value} {caught.value.url}"


@pytest.mark.parametrize("name", ["timeout_s", "max_reply_bytes", "max_reply_chars"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_limit_must_be_positive(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        MessengerLimits(**{name: value})  # type: ignore[arg-type]
