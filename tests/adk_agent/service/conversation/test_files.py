"""Files of answers as artifacts, and the folder that nobody is told of."""

import base64
import json

import pytest

from adk_agent.service.conversation import files
from tests.adk_agent.service.conversations import row, state, words

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.fixture
def run_id(caller):
    return row(caller.say("Evaluate builtin:null on one mock task"))["run_id"]


def exported(task):
    """The media types and contents of the files in a task's artifacts, by their names."""
    return {
        artifact["name"]: (part["mediaType"], base64.b64decode(part["raw"]))
        for artifact in task.get("artifacts", [])
        for part in artifact["parts"]
        if "raw" in part
    }


@pytest.mark.parametrize(
    ("text", "name", "kind", "content"),
    [
        ("export it as junit", "junit.xml", "application/xml", b"<testsuites"),
        ("export it as csv", "trials.csv", "text/csv", b"run_id,participant"),
        ("export the page", "report.html", "text/html", b"<html"),
        ("export it as markdown", "report.md", "text/markdown", b"builtin:null"),
    ],
)
def test_an_export_comes_as_an_artifact_with_its_media_type(
    caller, run_id, assembly, text, name, kind, content
):
    task = caller.say(text)
    assert state(task) == "completed"
    found = exported(task)
    assert set(found) == {name}
    assert found[name][0] == kind
    assert content in found[name][1]
    assert f"{run_id}/{name}" in words(task)
    assert str(assembly.settings.results_dir) not in json.dumps(task)


def test_the_report_is_the_evaluations_artifact_and_not_sent_twice(caller, run_id):
    task = caller.say("export the report as json")
    assert row(task)["run_id"] == run_id
    assert exported(task) == {}


def test_what_is_too_large_is_named(caller, run_id, monkeypatch):
    monkeypatch.setattr(files, "MAX_FILE_BYTES", 100)
    task = caller.say("export the page")
    assert (state(task), exported(task)) == ("completed", {})
    assert (
        f"Too large to be sent, but kept where the service keeps its runs: {run_id}/report.html"
        in (words(task))
    )
