"""Where tasks are kept, and what becomes of them when the service is killed."""

import sqlite3
from datetime import timedelta

import pytest
from a2a.helpers import new_text_part
from a2a.server.context import ServerCallContext
from a2a.types import ListTasksRequest, Task, TaskState, TaskStatus

from adk_agent.core.errors import RequestError, StorageError
from adk_agent.service.options import TaskStoreChoice
from adk_agent.service.stores import (
    BoundedTaskStore,
    context_of,
    new_task_store,
    opened,
)
from adk_agent.service.sweep import KEPT_DAYS, nothing, sweep
from adk_agent.testing import manual_runtime

NOW = manual_runtime().clock.now


def a_task(task_id, state, run_id=None):
    task = Task(id=task_id, context_id="c", status=TaskStatus(state=state))
    if run_id is not None:
        task.metadata.update({"progress": {"run_id": run_id, "done": 2}})
    return task


@pytest.fixture
def choice(tmp_path):
    return TaskStoreChoice.parse(f"sqlite:{tmp_path / 'deep' / 'tasks.db'}")


@pytest.mark.parametrize(
    "text", ["", "sqlite", "sqlite:", "sqlite: ", "memory:", "postgres:x", "x"]
)
def test_what_is_no_store_is_refused(text):
    with pytest.raises(RequestError, match="write memory, or sqlite:PATH"):
        TaskStoreChoice.parse(text)


async def test_tasks_in_a_file_outlive_the_store(choice):
    for attempt in range(2):
        store = new_task_store(choice)
        async with opened(store, choice):
            if attempt == 0:
                await store.save(a_task("t", TaskState.TASK_STATE_COMPLETED), ServerCallContext())
            found = await store.get("t", ServerCallContext())
    assert found.status.state == TaskState.TASK_STATE_COMPLETED


async def test_a_file_has_one_service(choice):
    store = new_task_store(choice)
    async with opened(store, choice):
        with pytest.raises(StorageError, match="another service keeps its tasks in"):
            async with opened(new_task_store(choice), choice):
                pass
    async with opened(new_task_store(choice), choice):
        pass


def test_a_file_that_is_no_database_is_named(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, and no tasks " * 10)
    with pytest.raises(StorageError, match="file is not a database"):
        new_task_store(TaskStoreChoice.parse(f"sqlite:{path}"))
    assert path.read_text().startswith("these are my notes")


def test_a_database_of_somebody_else_is_named(tmp_path):
    path = tmp_path / "todo.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE tasks (id INTEGER, title TEXT)")
    connection.close()
    with pytest.raises(StorageError, match="is not one of this version"):
        new_task_store(TaskStoreChoice.parse(f"sqlite:{path}"))


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot keep tasks in"):
        new_task_store(TaskStoreChoice.parse(f"sqlite:{tmp_path}/file/tasks.db"))


async def test_what_a_killed_service_left_running_is_failed_with_what_was_finished(choice):
    asked = []

    async def artifact_of(run_id):
        asked.append(run_id)
        return [new_text_part("two trials")] if run_id == "run-1" else None

    async def broken(run_id):
        raise ValueError("disk")

    store = new_task_store(choice)
    async with opened(store, choice):
        mine, hers = context_of(""), context_of("her")
        await store.save(a_task("done", TaskState.TASK_STATE_COMPLETED, "run-0"), mine)
        await store.save(a_task("left", TaskState.TASK_STATE_WORKING, "run-1"), mine)
        await store.save(a_task("empty", TaskState.TASK_STATE_WORKING, "run-2"), hers)
        await store.save(a_task("new", TaskState.TASK_STATE_SUBMITTED), hers)
    async with opened(store := new_task_store(choice), choice):
        assert await sweep(store, artifact_of, NOW) == 3
        assert await sweep(store, artifact_of, NOW) == 0
        assert asked == ["run-1", "run-2"]
        left = await store.get("left", mine)
        assert left.status.state == TaskState.TASK_STATE_FAILED
        assert left.status.timestamp.ToDatetime() == NOW().replace(tzinfo=None)
        assert "finished are attached" in left.status.message.parts[0].text
        assert [each.name for each in left.artifacts] == ["evaluation"]
        for task_id in ("empty", "new"):
            task = await store.get(task_id, hers)
            assert task.status.state == TaskState.TASK_STATE_FAILED
            assert not task.artifacts
            assert "attached" not in task.status.message.parts[0].text
        assert (await store.get("done", mine)).status.state == TaskState.TASK_STATE_COMPLETED
        await store.save(a_task("odd", TaskState.TASK_STATE_WORKING, "run-9"), mine)
        assert await sweep(store, broken, NOW) == 1
        assert (await store.get("odd", mine)).status.state == TaskState.TASK_STATE_FAILED


async def test_what_ended_long_ago_is_dropped_from_a_file_and_what_was_left_running_is_not(choice):
    ages = {"old": KEPT_DAYS + 1, "left": KEPT_DAYS + 1, "kept": KEPT_DAYS - 1}
    owners = {"old": "her", "left": "", "kept": "her"}
    store = new_task_store(choice)
    async with opened(store, choice):
        for task_id, days in ages.items():
            ended = task_id != "left"
            task = a_task(
                task_id, TaskState.TASK_STATE_FAILED if ended else TaskState.TASK_STATE_WORKING
            )
            task.status.timestamp.FromDatetime(NOW() - timedelta(days=days))
            await store.save(task, context_of(owners[task_id]))
        assert await sweep(store, nothing, NOW) == 1
        found = {
            task_id: await store.get(task_id, context_of(owner))
            for task_id, owner in owners.items()
        }
    assert {task_id for task_id, task in found.items() if task is not None} == {"left", "kept"}
    assert found["left"].status.state == TaskState.TASK_STATE_FAILED


@pytest.mark.parametrize("run_id", ["../elsewhere", "a/b", ""])
async def test_a_task_that_names_no_run_is_failed_without_looking_for_one(choice, run_id):
    async def never(run_id):
        raise AssertionError(run_id)

    store = new_task_store(choice)
    async with opened(store, choice):
        await store.save(a_task("t", TaskState.TASK_STATE_WORKING, run_id), context_of(""))
        assert await sweep(store, never, NOW) == 1
        task = await store.get("t", context_of(""))
    assert (task.status.state, len(task.artifacts)) == (TaskState.TASK_STATE_FAILED, 0)


async def test_a_store_in_memory_has_nothing_to_sweep():
    assert await sweep(BoundedTaskStore(1), nothing, NOW) == 0


async def test_a_store_in_memory_keeps_the_latest_finished_tasks_and_all_running_ones():
    dropped = []
    store = BoundedTaskStore(2, dropped.append)
    mine, hers = context_of(""), context_of("her")
    await store.save(a_task("running", TaskState.TASK_STATE_WORKING), mine)
    await store.save(a_task("a", TaskState.TASK_STATE_COMPLETED), mine)
    await store.save(a_task("b", TaskState.TASK_STATE_FAILED), hers)
    await store.save(a_task("a", TaskState.TASK_STATE_COMPLETED), mine)
    await store.save(a_task("c", TaskState.TASK_STATE_CANCELED), mine)
    assert dropped == ["b"]
    listed = await store.list(ListTasksRequest(), mine)
    assert {task.id for task in listed.tasks} == {"running", "a", "c"}
    assert (await store.list(ListTasksRequest(), hers)).tasks == []
