"""A running evaluation, read while it goes on: by a real server, for streams need one."""

import asyncio
import json

import anyio
import httpx
import pytest

from adk_agent.core.plan import Participant
from adk_agent.core.redaction import ModelRedactor
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.live import LiveConversations
from adk_agent.runs.tracking import tracked_run
from adk_agent.site.access import Visitors
from adk_agent.site.app import build_site
from adk_agent.site.live import LiveReader
from adk_agent.site.stream import EventStream, Streams
from evals.trace import ASSESSOR, CallType
from tau_bridge.recorder import TraceRecorder
from tests.adk_agent.present.page.kept_run import INSTALLED
from tests.fakes import serve
from tests.fakes.runtime import ManualClock, manual_runtime

RUN = "20260102-030405-aaaaaa"
JOB = TrialJob(
    participant=Participant(address="http://x.test"), domain="mock", task_id="a", trial=0, seed=1
)
HOSTILE = "</script><b>\u202e\x1b[31m"


@pytest.fixture
def running(tmp_path):
    """A run that is being played; what is asked and answered in its only trial is up to the test."""
    with tracked_run(tmp_path, RUN, request="Evaluate", clock=ManualClock()) as tracker:
        conversations = LiveConversations(tmp_path / RUN)
        observer = conversations.observer(JOB, "t1", redact=str)
        yield (
            tracker,
            conversations,
            TraceRecorder("t1", runtime=manual_runtime(), observer=observer),
        )


def ask(recorder, text):
    return recorder.begin(
        call_type=CallType.AGENT, caller=ASSESSOR, callee="http://x.test", request_text=text
    )


@pytest.fixture
def site(tmp_path):
    streams = Streams()
    app = build_site(
        tmp_path, Visitors(host="127.0.0.1", port=0), benchmarks=INSTALLED, streams=streams
    )
    with serve(app) as url:
        yield url, streams


class Heard:
    """The events of a stream, one at a time."""

    def __init__(self, response):
        self.lines = response.iter_lines()

    def until(self, name):
        for line in self.lines:
            if line == f"event: {name}":
                return json.loads(next(self.lines).removeprefix("data: "))
        pytest.fail(f"the stream ended before {name}")


@pytest.mark.requirement("use:live")
def test_two_readers_see_a_conversation_as_it_goes_on_until_the_run_ends(running, site):
    tracker, conversations, recorder = running
    url = f"{site[0]}/runs/{RUN}/events"
    with httpx.stream("GET", url) as one, httpx.stream("GET", url) as two:
        assert one.headers["content-type"] == "text/event-stream"
        readers = [Heard(one), Heard(two)]
        step = ask(recorder, HOSTILE)
        for heard in readers:
            assert heard.until("trial")["title"] == "mock a, trial 0"
            assert heard.until("began")["asked"] == "</script><b>\\u202e\\x1b[31m"
        step.end(response_text="yes")
        for heard in readers:
            assert heard.until("ended")["answered"] == "yes"
        conversations.end("t1")
        for heard in readers:
            assert heard.until("over") == {"id": "t1"}
        tracker.end("complete")
        for heard in readers:
            assert heard.until("status")["state"] == "complete"
            heard.until("end")


def test_a_stream_ends_when_the_site_is_stopped(running, site):
    ask(running[2], "hello")
    with httpx.stream("GET", f"{site[0]}/runs/{RUN}/events") as response:
        heard = Heard(response)
        heard.until("began")
        site[1].stopping.set()
        rest = [*heard.lines]
    assert "event: end" not in rest  # the run goes on


@pytest.mark.requirement("use:live")
def test_the_page_shows_the_conversation_without_javascript(running, site):
    ask(running[2], "hello there").end(response_text="<i>yes</i>")
    page = httpx.get(f"{site[0]}/runs/{RUN}/live").text
    assert "hello there" in page
    assert "&lt;i&gt;yes&lt;/i&gt;" in page
    assert f"/runs/{RUN}/live" in httpx.get(f"{site[0]}/").text


def test_half_a_line_waits_for_its_other_half_and_a_broken_one_is_passed_over(running, tmp_path):
    ask(running[2], "hello")
    path = tmp_path / RUN / "live" / "t1.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"kind":"ended","step_id":"id-1","answ')
    reader = LiveReader(tmp_path, RUN, ModelRedactor())
    assert [name for name, _ in reader.new()] == ["trial", "began", "status"]
    with path.open("ab") as file:
        file.write(b'ered":"yes","error":null,"latency_ms":1}\n{broken}\n')
    assert [name for name, _ in reader.new()] == ["ended", "unreadable"]
    assert reader.new() == []


def test_secrets_are_masked_while_a_conversation_goes_on(running, tmp_path):
    ask(running[2], "my key is sk-abcdefghijklmnop1234")
    events = LiveReader(tmp_path, RUN, ModelRedactor()).new()
    assert "sk-abcdefghijklmnop1234" not in json.dumps(events)


def test_a_run_that_has_ended_shows_no_conversation_that_a_killed_process_left(running, tmp_path):
    ask(running[2], "hello")
    running[0].end("interrupted")
    reader = LiveReader(tmp_path, RUN, ModelRedactor())
    assert [name for name, _ in reader.new()] == ["status"]
    assert reader.has_ended


async def test_a_client_that_reads_nothing_is_left(running, tmp_path):
    streams = Streams()
    stream = EventStream(
        lambda: LiveReader(tmp_path, RUN, ModelRedactor()), streams, patience_s=0.01
    )
    ask(running[2], "hello")

    async def never_sent(message):
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def never_left():
        await asyncio.Event().wait()

    with anyio.fail_after(30):
        await stream({"type": "http"}, never_left, never_sent)
    assert streams.open == 0


def test_no_more_streams_are_opened_than_a_machine_can_bear(running, site):
    site[1].open = 32
    answer = httpx.get(f"{site[0]}/runs/{RUN}/events")
    site[1].open = 0
    assert answer.status_code == 503
    assert "close one" in answer.text
