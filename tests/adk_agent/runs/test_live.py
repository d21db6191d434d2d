"""Conversations under way, beside the run: written as they go, gone once the trial is on disk."""

import json
import stat

import pytest

import greenroom
from adk_agent.core.plan import Participant
from adk_agent.runs import live
from adk_agent.runs.jobs import TrialJob
from adk_agent.runs.live import LiveConversations
from evals.trace import ASSESSOR, CallType
from tau_bridge.recorder import TraceRecorder
from tests.fakes.runtime import manual_runtime

JOB = TrialJob(
    participant=Participant(address="http://x.test"), domain="mock", task_id="a", trial=0, seed=1
)


def recorder_of(conversations, trace_id="t1", redact=str):
    observer = conversations.observer(JOB, trace_id, redact=redact)
    return TraceRecorder(trace_id, runtime=manual_runtime(), observer=observer)


def ask(recorder, text="hello"):
    return recorder.begin(
        call_type=CallType.AGENT, caller=ASSESSOR, callee="http://x.test", request_text=text
    )


def lines_of(folder, trace_id="t1"):
    text = (folder / "live" / f"{trace_id}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.requirement("use:live")
def test_a_whole_evaluation_can_be_read_while_it_goes_on_and_leaves_nothing_behind(tmp_path):
    read_meanwhile = []

    async def agent(message):
        [kept] = tmp_path.glob("*/live/*.jsonl")
        read_meanwhile.append(kept.read_text())
        return '{"name": "respond", "arguments": {"content": "I cannot help with that."}}'

    greenroom.evaluate(agent, "mock", tasks=["create_task_1"], offline=True, results_dir=tmp_path)
    first = [json.loads(line) for line in read_meanwhile[0].splitlines()]
    assert first[0]["task_id"] == "create_task_1"
    assert "Important Meeting" in first[-1]["asked"]
    assert [*tmp_path.glob("*/live")] == []


@pytest.mark.requirement("use:live")
def test_a_call_can_be_read_before_it_is_answered_and_again_when_it_is(tmp_path):
    conversations = LiveConversations(tmp_path)
    step = ask(recorder_of(conversations))
    trial, began = lines_of(tmp_path)
    assert (trial["agent"], trial["task_id"]) == ("http://x.test", "a")
    assert (began["kind"], began["asked"]) == ("began", "hello")
    step.end(response_text="yes")
    assert [line["kind"] for line in lines_of(tmp_path)] == ["trial", "began", "ended"]
    assert lines_of(tmp_path)[2]["answered"] == "yes"
    conversations.end("t1")
    assert [*(tmp_path / "live").iterdir()] == []
    conversations.clear()
    assert [*tmp_path.iterdir()] == []


def test_what_must_not_be_told_is_taken_out_and_the_file_is_its_owners_alone(tmp_path):
    conversations = LiveConversations(tmp_path)
    recorder = recorder_of(conversations, redact=lambda text: text.replace("secret", "***"))
    ask(recorder, "the secret").end(error="no secret")
    path = tmp_path / "live" / "t1.jsonl"
    assert "secret" not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_conversation_without_end_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "MOST_BYTES", 2_000)
    recorder = recorder_of(LiveConversations(tmp_path))
    for _ in range(50):
        ask(recorder, "x" * 100).end(response_text="y" * 100)
    kinds = [line["kind"] for line in lines_of(tmp_path)]
    assert kinds.count("full") == 1
    assert kinds[-1] == "full"
    assert (tmp_path / "live" / "t1.jsonl").stat().st_size < 2_100


def test_a_folder_that_cannot_be_written_costs_one_warning_and_no_step(tmp_path, caplog):
    (tmp_path / "live").write_text("in the way")
    conversations = LiveConversations(tmp_path)
    recorder = recorder_of(conversations)
    ask(recorder).end(response_text="yes")
    ask(recorder).end(response_text="yes")
    conversations.end("t1")
    assert len(recorder.trace().steps) == 2
    assert len(caplog.records) == 1
    assert "the run goes on" in caplog.text


def test_half_of_a_character_leaves_the_rest_readable(tmp_path):
    recorder = recorder_of(LiveConversations(tmp_path))
    ask(recorder, "\ud800").end(response_text="yes")
    assert [line["kind"] for line in lines_of(tmp_path)] == ["trial", "ended"]
