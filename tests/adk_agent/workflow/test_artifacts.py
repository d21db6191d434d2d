"""The report as artifacts of an ADK conversation."""

import json

import pytest
from google.adk.runners import InMemoryRunner
from google.genai import types

from adk_agent.assembly import Assembly
from adk_agent.core.settings import Settings

pytestmark = pytest.mark.usefixtures("quick_start")

SENTENCE = "Evaluate the bundled null agent on one mock task"


class Conversation:
    """A conversation with the workflow, as `adk web` has it."""

    def __init__(self, root_agent):
        self.runner = InMemoryRunner(agent=root_agent, app_name="app")
        self.place = {"app_name": "app", "user_id": "user", "session_id": "one"}

    async def say(self, text):
        service = self.runner.session_service
        if await service.get_session(**self.place) is None:
            await service.create_session(**self.place)
        message = types.Content(role="user", parts=[types.Part(text=text)])
        events = self.runner.run_async(user_id="user", session_id="one", new_message=message)
        return [event async for event in events]

    async def artifact(self, name, version=None):
        service = self.runner.artifact_service
        part = await service.load_artifact(**self.place, filename=name, version=version)
        return part.inline_data


@pytest.fixture
def conversation(tmp_path, benchmarks):
    settings = Settings.load(results_dir=tmp_path, offline=True)
    return Conversation(Assembly(settings=settings, benchmarks=benchmarks).root_agent())


async def test_the_report_is_offered_as_markdown_and_as_json(conversation, tmp_path):
    events = await conversation.say(SENTENCE)
    assert events[-1].actions.artifact_delta == {"report.md": 0, "report.json": 0}
    assert events[-1].content is None  # the web interface shows no text beside artifacts
    markdown = await conversation.artifact("report.md")
    assert markdown.mime_type == "text/markdown"
    [folder] = tmp_path.iterdir()
    assert markdown.data == (folder / "report.md").read_bytes()
    assert b"_Interpretation by rules._" in markdown.data
    report = await conversation.artifact("report.json")
    assert report.mime_type == "application/json"
    assert json.loads(report.data)["run_id"] == folder.name


async def test_each_evaluation_of_a_conversation_is_a_version(conversation):
    await conversation.say(SENTENCE)
    events = await conversation.say(SENTENCE.replace("null", "echo"))
    assert events[-1].actions.artifact_delta == {"report.md": 1, "report.json": 1}
    first = json.loads((await conversation.artifact("report.json", 0)).data)
    second = json.loads((await conversation.artifact("report.json", 1)).data)
    assert first["plan"]["participants"][0]["address"] == "builtin:null"
    assert second["plan"]["participants"][0]["address"] == "builtin:echo"


async def test_what_was_refused_has_no_report_to_offer(conversation):
    events = await conversation.say("Evaluate nothing at all")
    assert all(not event.actions.artifact_delta for event in events)


async def test_artifacts_that_cannot_be_kept_do_not_end_the_evaluation(
    conversation, monkeypatch, caplog
):
    async def refuse(self, **_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(conversation.runner.artifact_service), "save_artifact", refuse)
    events = await conversation.say(SENTENCE)
    assert any("## Summary" in part.text for e in events if e.content for part in e.content.parts)
    assert "not offered as artifacts" in caplog.text
