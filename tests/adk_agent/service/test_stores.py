"""Where tasks are kept, and which of them."""

import sqlite3

import pytest
from a2a.server.context import ServerCallContext
from a2a.types import ListTasksRequest, TaskState

from adk_agent.core.errors import StorageError
from adk_agent.service.stores import (
    BoundedTaskStore,
    context_of,
    new_stores,
    opened,
)
from tests.adk_agent.service.kept_tasks import a_task


async def test_tasks_in_a_file_outlive_the_store(choice):
    for attempt in range(2):
        store, _ = new_stores(choice)
        async with opened(store, choice):
            if attempt == 0:
                await store.save(a_task("t", TaskState.TASK_STATE_COMPLETED), ServerCallContext())
            found = await store.get("t", ServerCallContext())
    assert found.status.state == TaskState.TASK_STATE_COMPLETED


async def test_a_file_has_one_service(choice):
    store, _ = new_stores(choice)
    async with opened(store, choice):
        with pytest.raises(StorageError, match="another service keeps its tasks in"):
            async with opened(new_stores(choice)[0], choice):
                pass
    async with opened(new_stores(choice)[0], choice):
        pass


def test_a_file_that_is_no_database_is_named(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are my notes, and no tasks " * 10)
    with pytest.raises(StorageError, match="file is not a database"):
        new_stores(path)
    assert path.read_text().startswith("these are my notes")


def test_a_database_of_somebody_else_is_named(tmp_path):
    path = tmp_path / "todo.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE tasks (id INTEGER, title TEXT)")
    connection.close()
    with pytest.raises(StorageError, match="is not one of this version"):
        new_stores(path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot keep tasks in"):
        new_stores(tmp_path / "file" / "tasks.db")


async def test_a_store_in_memory_keeps_the_latest_finished_tasks_and_all_running_ones():
    dropped = []
    store = BoundedTaskStore(2, dropped.append)
    mine, hers = context_of(""), context_of("her")
    await store.save(a_task("running", TaskState.TASK_STATE_WORKING), mine)
    await store.save(a_task("a", TaskState.TASK_STATE_COMPLETED), mine)
    await store.save(a_task("b", TaskState.TASK_STATE_FAILED), hers)
    await store.save(a_task("a", TaskState.TASK_STATE_COMPLETED), mine)
    await store.save(a_task("c", TaskState.TASK_STATE_CANCELED), mine)
    assert dropped == []  # each caller has so many
    await store.save(a_task("d", TaskState.TASK_STATE_CANCELED), mine)
    assert dropped == ["a"]
    assert await kept(store, mine) == {"running", "c", "d"}
    assert await kept(store, hers) == {"b"}


async def kept(store, caller):
    return {task.id for task in (await store.list(ListTasksRequest(), caller)).tasks}


async def test_what_has_results_is_kept_longer_than_answers():
    store, mine = BoundedTaskStore(3), context_of("")
    evaluation = a_task("evaluation", TaskState.TASK_STATE_COMPLETED)
    evaluation.artifacts.add(artifact_id="a")
    await store.save(evaluation, mine)
    for number in range(20):
        await store.save(a_task(f"hello-{number}", TaskState.TASK_STATE_COMPLETED), mine)
    assert await kept(store, mine) == {"evaluation", "hello-18", "hello-19"}


async def test_large_tasks_are_bounded_by_their_bytes_and_the_latest_is_kept():
    dropped, mine, hers = [], context_of(""), context_of("her")
    store = BoundedTaskStore(100, dropped.append, kept_bytes=5_000)
    for task_id, size in (("a", 2_000), ("b", 2_000), ("c", 2_000), ("d", 9_000)):
        task = a_task(task_id, TaskState.TASK_STATE_COMPLETED)
        task.history.add(message_id="m").parts.add(text="x" * size)
        await store.save(task, hers if task_id == "a" else mine)
    assert dropped == ["b", "c"]
    assert (await kept(store, mine), await kept(store, hers)) == ({"d"}, {"a"})
    await store.save(a_task("e", TaskState.TASK_STATE_COMPLETED), mine)
    assert await kept(store, mine) == {"e"}


async def test_of_tasks_that_wait_for_an_answer_the_latest_are_kept_too():
    dropped = []
    store = BoundedTaskStore(2, dropped.append)
    mine = context_of("")
    for task_id in ("a", "b", "c"):
        await store.save(a_task(task_id, TaskState.TASK_STATE_INPUT_REQUIRED), mine)
    assert dropped == ["a"]
    await store.save(a_task("b", TaskState.TASK_STATE_WORKING), mine)
    await store.save(a_task("d", TaskState.TASK_STATE_COMPLETED), mine)
    assert dropped == ["a"]
    listed = await store.list(ListTasksRequest(), mine)
    assert {task.id for task in listed.tasks} == {"b", "c", "d"}
