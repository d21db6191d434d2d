"""Push notifications: their configurations, and that they arrive."""

import json
import queue
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from a2a.types import StreamResponse
from google.protobuf.json_format import ParseDict

NOWHERE = "http://127.0.0.1:9/"
OPERATION = "{}TaskPushNotificationConfig"


@pytest.fixture(scope="module")
def receiver():
    """An address for notifications, and the queue of (headers, body) that arrived."""
    arrived = queue.Queue()

    class Receiving(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            arrived.put((dict(self.headers.items()), json.loads(body)))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiving)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/webhook", arrived
    server.shutdown()
    thread.join()
    server.server_close()


def created(binding, prefix):
    """The task and the id of a configuration of its own."""
    where = {"taskId": binding.task(prefix)["id"], "id": "push-1"}
    made = binding.call(OPERATION.format("Create"), **where, url=NOWHERE)
    assert (made["id"], made["url"]) == ("push-1", NOWHERE)
    return where


@pytest.mark.parametrize("prefix", ["tck-complete-task", "tck-input-required"])
def test_configurations_are_kept(binding, prefix):
    where = created(binding, prefix)
    assert binding.call(OPERATION.format("Get"), **where)["url"] == NOWHERE
    listed = binding.call("ListTaskPushNotificationConfigs", taskId=where["taskId"])
    assert [each["id"] for each in listed["configs"]] == ["push-1"]


def test_configurations_can_be_deleted_and_deleted_again(binding):
    where = created(binding, "tck-input-required")
    for _ in range(2):
        assert not binding.call(OPERATION.format("Delete"), **where)  # null, {}, or empty
    binding.refusal(OPERATION.format("Get"), **where)
    assert binding.call("ListTaskPushNotificationConfigs", taskId=where["taskId"]) == {}


def test_a_configuration_that_is_not_there_is_refused(binding):
    task = binding.task("tck-complete-task")
    binding.refusal(OPERATION.format("Get"), taskId=task["id"], id="nobody")


@pytest.mark.parametrize("operation", ["Create", "Get"])
def test_configurations_of_a_task_that_is_not_there_are_refused(binding, operation):
    url = {"url": NOWHERE} if operation == "Create" else {}
    refusal = binding.refusal(OPERATION.format(operation), taskId="nobody", id="c", **url)
    assert refusal[0] == "TASK_NOT_FOUND"


def test_notifications_arrive_as_events_with_the_credentials(binding, receiver):
    url, arrived = receiver
    wanted = {"id": "push-1", "url": url, "token": "mine"}
    wanted["authentication"] = {"scheme": "Bearer", "credentials": "tck-test"}
    task = binding.task("tck-input-required", configuration={"taskPushNotificationConfig": wanted})
    binding.task("tck-complete-task", taskId=task["id"])
    for headers, body in iter(lambda: arrived.get(timeout=15), None):
        assert headers["Authorization"] == "Bearer tck-test"
        assert headers["X-A2A-Notification-Token"] == "mine"
        ParseDict(body, StreamResponse())
        if task_id(body) == task["id"] and completed(body):
            return


def task_id(body):
    (event,) = body.values()
    return event.get("taskId", event.get("id"))


def completed(body):
    (event,) = body.values()
    return event.get("status", {}).get("state") == "TASK_STATE_COMPLETED"
