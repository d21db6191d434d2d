"""What the kit asks of every binding of 1.0: JSON-RPC, HTTP+JSON and gRPC."""

import pytest
from a2a.types import SendMessageResponse, StreamResponse, Task
from google.protobuf.json_format import ParseDict

from tests.compatibility.clients import BINDINGS

CODES = {  # of JSON-RPC, HTTP+JSON and gRPC
    "TASK_NOT_FOUND": (-32001, 404, "NOT_FOUND"),
    "TASK_NOT_CANCELABLE": (-32002, 400, "FAILED_PRECONDITION"),
    "UNSUPPORTED_OPERATION": (-32004, 400, "FAILED_PRECONDITION"),
    "CONTENT_TYPE_NOT_SUPPORTED": (-32005, 415, "INVALID_ARGUMENT"),
    "VERSION_NOT_SUPPORTED": (-32009, 400, "FAILED_PRECONDITION"),
    "INVALID_PARAMS": (-32602, 400, "INVALID_ARGUMENT"),
}
SENDING = ("SendMessage", "SendStreamingMessage")
UNKNOWN_FORMAT = {"raw": "dGNr", "mediaType": "application/x-unsupported-tck-type"}


def refused(binding, reason):
    """How the binding says it."""
    return reason, CODES[reason][list(BINDINGS.values()).index(type(binding))]


def test_a_task_that_is_not_there_is_not_found(binding):
    for operation in ("GetTask", "CancelTask", "SubscribeToTask"):
        assert binding.refusal(operation, id="nobody") == refused(binding, "TASK_NOT_FOUND")


def test_a_message_to_a_task_that_is_not_there_is_refused(binding):
    message = binding.sut.message("tck-multi-004", taskId="nobody")
    for operation in SENDING:
        assert binding.refusal(operation, message=message) == refused(binding, "TASK_NOT_FOUND")


def test_a_task_that_has_ended_is_not_canceled_nor_watched_nor_continued(binding):
    name = binding.task("tck-complete-task")["id"]
    assert binding.refusal("CancelTask", id=name) == refused(binding, "TASK_NOT_CANCELABLE")
    unsupported = refused(binding, "UNSUPPORTED_OPERATION")
    assert binding.refusal("SubscribeToTask", id=name) == unsupported
    message = binding.sut.message("tck-terminal", taskId=name)
    for operation in SENDING:
        assert binding.refusal(operation, message=message) == unsupported


@pytest.mark.parametrize("prefix", ["tck-complete-task", "tck-input-required"])
def test_a_task_of_another_context_is_refused(binding, prefix):
    task = binding.task(prefix)
    message = binding.sut.message("tck-mismatch", taskId=task["id"], contextId="another")
    assert binding.refusal("SendMessage", message=message) == refused(binding, "INVALID_PARAMS")


def test_there_is_no_extended_card(binding):
    assert binding.refusal("GetExtendedAgentCard") == refused(binding, "UNSUPPORTED_OPERATION")


def test_sending_nothing_is_refused(binding):
    for operation in SENDING:
        assert binding.refusal(operation) == refused(binding, "INVALID_PARAMS")


def test_a_format_that_the_card_does_not_name_is_refused(our_binding):
    # a2a-sdk's own edge takes it, unless it is told to look.
    message = our_binding.sut.message("tck-send-003", parts=[UNKNOWN_FORMAT])
    for operation in SENDING:
        answer = our_binding.refusal(operation, message=message)
        assert answer == refused(our_binding, "CONTENT_TYPE_NOT_SUPPORTED")


def test_lists_that_cannot_be_are_refused(binding):
    for params in ({"pageSize": 0}, {"pageSize": 101}, {"pageToken": "?"}, {"historyLength": -1}):
        assert binding.refusal("ListTasks", **params) == refused(binding, "INVALID_PARAMS")


def test_a_history_that_cannot_be_is_refused(binding):
    task = binding.task("tck-complete-task")
    answer = binding.refusal("GetTask", id=task["id"], historyLength=-1)
    assert answer == refused(binding, "INVALID_PARAMS")


def test_an_error_of_the_work_is_an_error(binding):
    binding.refusal("SendMessage", message=binding.sut.message("tck-reject-task"))


@pytest.mark.parametrize(
    ("prefix", "state"),
    [
        ("tck-complete-task", "COMPLETED"),
        ("tck-delayed-complete", "COMPLETED"),
        ("tck-input-required", "INPUT_REQUIRED"),
        ("tck-auth-required", "AUTH_REQUIRED"),
    ],
)
def test_who_waits_gets_the_task_in_the_state_that_it_stops_at(binding, prefix, state):
    task = binding.task(prefix, configuration={"returnImmediately": False})
    assert task["status"]["state"] == f"TASK_STATE_{state}"
    assert binding.call("GetTask", id=task["id"])["status"] == task["status"]


def test_who_does_not_wait_gets_the_task_while_it_works(binding):
    task = binding.task("tck-delayed-complete", configuration={"returnImmediately": True})
    assert task["status"]["state"] in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")


def test_a_task_that_waits_goes_on_in_its_context(binding):
    task = binding.task("tck-auth-required")
    for prefix, state in (("tck-input-required", "INPUT_REQUIRED"), ("tck-x", "COMPLETED")):
        again = binding.task(prefix, taskId=task["id"])
        assert (again["id"], again["contextId"]) == (task["id"], task["contextId"])
        assert again["status"]["state"] == f"TASK_STATE_{state}"


def test_a_task_that_waits_can_be_canceled(binding):
    task = binding.call("CancelTask", id=binding.task("tck-input-required")["id"])
    assert task["status"]["state"] == "TASK_STATE_CANCELED"


def test_the_context_of_the_caller_is_kept(binding):
    assert binding.task("tck-complete-task", contextId="kept-1")["contextId"] == "kept-1"


def test_tasks_have_ids_of_their_own(binding):
    tasks = [binding.task("tck-complete-task") for _ in range(2)]
    assert len({task["id"] for task in tasks} | {task["contextId"] for task in tasks}) == 4


def test_the_history_holds_what_was_said_in_its_order(binding):
    first = binding.task("tck-input-required", parts=[{"text": "first"}])
    binding.task("tck-complete-task", taskId=first["id"], parts=[{"text": "second"}])
    history = binding.call("GetTask", id=first["id"], historyLength=10)["history"]
    said = [each["parts"] for each in history if each["role"] == "ROLE_USER"]
    assert said == [[{"text": "first"}], [{"text": "second"}]]


def test_the_history_is_no_longer_than_was_asked_for(binding):
    name = binding.task("tck-input-required")["id"]
    none = {"historyLength": 0}
    assert "history" not in binding.task("tck-complete-task", taskId=name, configuration=none)
    for length in (0, 1):
        found = binding.call("GetTask", id=name, historyLength=length)
        assert len(found.get("history", [])) == length


def test_lists_are_of_one_context_by_pages_the_newest_first(binding):
    context = binding.sut.message("list")["messageId"]
    made = [binding.task("tck-artifact-text", contextId=context)["id"] for _ in range(3)]
    first = binding.call("ListTasks", contextId=context, pageSize=2)
    rest = binding.call(
        "ListTasks", contextId=context, pageSize=2, pageToken=first["nextPageToken"]
    )
    found = [*first["tasks"], *rest["tasks"]]
    assert [task["id"] for task in found] == made[::-1]
    assert all("artifacts" not in task for task in found)
    assert (first["totalSize"], rest.get("nextPageToken", "")) == (3, "")


def test_lists_can_be_of_one_state(binding):
    context = binding.sut.message("list")["messageId"]
    made = [binding.task(f"tck-{each}", contextId=context) for each in ("a", "input-required")]
    listed = binding.call("ListTasks", contextId=context, status="TASK_STATE_INPUT_REQUIRED")
    assert [task["id"] for task in listed["tasks"]] == [made[1]["id"]]


def test_lists_can_include_artifacts(binding):
    context = binding.sut.message("list")["messageId"]
    binding.task("tck-artifact-text", contextId=context)
    (task,) = binding.call("ListTasks", contextId=context, includeArtifacts=True)["tasks"]
    assert task["artifacts"]


def test_a_message_can_lead_to_a_message(binding):
    answer = binding.send("tck-message-response")
    ParseDict(answer, SendMessageResponse())
    assert answer["message"]["parts"] == [{"text": "Direct message response"}]
    assert answer["message"]["role"] == "ROLE_AGENT"


@pytest.mark.parametrize(
    ("prefix", "key", "value"),
    [
        ("tck-artifact-text", "text", "Generated text content"),
        ("tck-artifact-file", "raw", "dGNr"),
        ("tck-artifact-file-url", "url", "https://example.com/output.txt"),
        ("tck-artifact-data", "data", {"key": "value", "count": 42}),
    ],
)
def test_artifacts_have_what_was_made_in_the_fields_of_the_protocol(binding, prefix, key, value):
    answer = binding.send(prefix)
    ParseDict(answer, SendMessageResponse())
    (artifact,) = answer["task"]["artifacts"]
    assert artifact["artifactId"]
    assert [part[key] for part in artifact["parts"]] == [value]
    read = binding.call("GetTask", id=answer["task"]["id"])
    ParseDict(read, Task())
    assert read["artifacts"] == [artifact]


def test_chunks_of_an_artifact_are_appended(binding):
    message = binding.sut.message("tck-stream-artifact-chunked")
    with binding.stream("SendStreamingMessage", message=message) as events:
        chunks = [each["artifactUpdate"] for each in events if "artifactUpdate" in each]
    assert [chunk.get("append", False) for chunk in chunks] == [False, True]
    assert chunks[1]["lastChunk"] is True
    (artifact,) = binding.call("GetTask", id=chunks[0]["taskId"])["artifacts"]
    assert "".join(part["text"] for part in artifact["parts"]) == "chunk-1 chunk-2"


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("tck-stream-001", ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]),
        ("tck-stream-003", ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]),
        ("tck-stream-ordering-001", ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]),
        ("tck-stream-002", ["task", "statusUpdate"]),
        ("tck-message-response", ["message"]),
    ],
)
def test_streams_have_the_events_of_the_protocol_in_order(binding, prefix, expected):
    message = binding.sut.message(prefix)
    with binding.stream("SendStreamingMessage", message=message) as events:
        received = list(events)
    assert [next(iter(event)) for event in received] == expected
    for event in received:
        ParseDict(event, StreamResponse())
