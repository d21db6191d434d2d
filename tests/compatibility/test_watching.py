"""Watching a task, alone and together with others."""

import contextlib

import pytest


@contextlib.contextmanager
def watched(binding, task, count=1):
    """So many streams of the task; each has had its first event."""
    with contextlib.ExitStack() as stack:
        streams = []
        for _ in range(count):
            own = stack.enter_context(contextlib.ExitStack())
            events = iter(own.enter_context(binding.stream("SubscribeToTask", id=task["id"])))
            streams.append((own, next(events), events))
        yield streams


def states(events):
    return [event["statusUpdate"]["status"]["state"] for event in events if "statusUpdate" in event]


def test_watching_begins_with_the_task_and_ends_with_it(binding):
    task = binding.task("tck-input-required")
    with watched(binding, task) as [(_, first, events)]:
        assert first["task"]["id"] == task["id"]
        assert first["task"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
        binding.task("tck-complete-task", taskId=task["id"])
        assert states(events)[-1] == "TASK_STATE_COMPLETED"


def test_all_who_watch_get_the_same_events_in_the_same_order(binding):
    task = binding.task("tck-input-required")
    with watched(binding, task, 2) as [(_, first, events), (_, second, others)]:
        assert first == second
        binding.task("tck-stream-ordering-001", taskId=task["id"])
        received = list(events)
        assert states(received) == ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]
        assert list(others) == received


def test_one_who_leaves_does_not_take_the_events_of_the_others(binding):
    task = binding.task("tck-input-required")
    with watched(binding, task, 2) as [(leaving, _, _), (_, _, events)]:
        leaving.close()
        binding.task("tck-complete-task", taskId=task["id"])
        assert states(events)[-1] == "TASK_STATE_COMPLETED"


UNDER_WAY = ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")


def test_a_task_that_was_begun_without_waiting_can_be_watched(binding):
    now = {"returnImmediately": True}
    task = binding.task("test-resubscribe-message-id", configuration=now)
    with watched(binding, task) as [(_, first, _)]:
        assert first["task"]["status"]["state"] in UNDER_WAY


def test_a_stream_can_be_left_and_the_task_be_watched_again(binding):
    message = binding.sut.message("test-resubscribe-message-id")
    with binding.stream("SendStreamingMessage", message=message) as events:
        task = next(iter(events))["task"]
    with watched(binding, task) as [(_, first, _)]:
        assert first["task"]["id"] == task["id"]
        assert first["task"]["status"]["state"] in UNDER_WAY


@pytest.mark.parametrize("prefix", ["tck-input-required", "tck-auth-required"])
def test_a_stream_ends_where_the_task_waits(binding, prefix):
    with binding.stream("SendStreamingMessage", message=binding.sut.message(prefix)) as events:
        assert len(states(list(events))) == 1
