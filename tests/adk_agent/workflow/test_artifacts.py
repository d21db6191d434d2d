"""The report as artifacts of an ADK conversation."""

import json

import pytest
from google.adk.runners import InMemoryRunner
from google.genai import types

from adk_agent.assembly import Assembly
from adk_agent.core.errors import StorageError
from adk_agent.core.settings import Settings
from adk_agent.workflow import artifacts
from adk_agent.workflow.content import text_of

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


async def test_the_report_is_offered_as_markdown_as_a_page_and_as_json(conversation, tmp_path):
    events = await conversation.say(SENTENCE)
    assert events[-1].actions.artifact_delta == {
        "report.md": 0,
        "report.html": 0,
        "report.json": 0,
    }
    assert events[-1].content is None  # the web interface shows no text beside artifacts
    markdown = await conversation.artifact("report.md")
    assert markdown.mime_type == "text/markdown"
    [folder] = tmp_path.iterdir()
    assert markdown.data == (folder / "report.md").read_bytes()
    assert b"_Interpretation by rules._" in markdown.data
    page = await conversation.artifact("report.html")
    assert page.mime_type == "text/html"
    assert page.data == (folder / "report.html").read_bytes()
    report = await conversation.artifact("report.json")
    assert report.mime_type == "application/json"
    assert json.loads(report.data)["run_id"] == folder.name


async def test_the_scores_are_offered_as_a_picture_beside_their_table(conversation):
    events = await conversation.say(SENTENCE)
    [place] = [
        at for at, event in enumerate(events) if "scores.svg" in event.actions.artifact_delta
    ]
    assert "| builtin:null | mock |" in text_of(events[place - 1].content)
    picture = await conversation.artifact("scores.svg")
    assert picture.mime_type == "image/svg+xml"
    assert b">builtin:null</text>" in picture.data


async def test_an_exported_file_is_offered_with_the_answer(conversation, tmp_path):
    await conversation.say(SENTENCE)
    events = await conversation.say("Export it as junit")
    [name] = events[-1].actions.artifact_delta
    assert name.endswith(".xml")
    assert name in text_of(events[-2].content)
    assert b"<testsuite" in (await conversation.artifact(name)).data


async def test_each_evaluation_of_a_conversation_is_a_version(conversation):
    await conversation.say(SENTENCE)
    events = await conversation.say(SENTENCE.replace("null", "echo"))
    assert set(events[-1].actions.artifact_delta.values()) == {1}
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
    assert "## Summary" in text_of(events[-1].content)
    assert all(not event.actions.artifact_delta for event in events)
    assert "report.md is not offered as an artifact" in caplog.text


async def test_a_page_that_cannot_be_written_leaves_the_report(conversation, monkeypatch, caplog):
    def refuse(*_, **__):
        raise StorageError("the page cannot be written: No space left on device")

    monkeypatch.setattr(artifacts, "write_page", refuse)
    events = await conversation.say(SENTENCE)
    assert list(events[-1].actions.artifact_delta) == ["report.md", "report.json"]
    assert "No space left on device" in caplog.text
