"""What becomes of tasks when the service was killed, and of old ones."""

from datetime import timedelta

import pytest
from a2a.helpers import new_text_part
from a2a.types import TaskState

from adk_agent.service.stores import BoundedTaskStore, context_of, new_stores, opened
from adk_agent.service.sweep import KEPT_DAYS, nothing, sweep
from tests.adk_agent.service.kept_tasks import a_task
from tests.fakes.runtime import manual_runtime

NOW = manual_runtime().clock.now


async def test_what_a_killed_service_left_running_is_failed_with_what_was_finished(choice):
    asked = []

    async def artifact_of(run_id):
        asked.append(run_id)
        return [new_text_part("two trials")] if run_id == "run-1" else None

    async def broken(run_id):
        raise ValueError("disk")

    store, _ = new_stores(choice)
    async with opened(store, choice):
        mine, hers = context_of(""), context_of("her")
        await store.save(a_task("done", TaskState.TASK_STATE_COMPLETED, "run-0"), mine)
        await store.save(a_task("left", TaskState.TASK_STATE_WORKING, "run-1"), mine)
        await store.save(a_task("empty", TaskState.TASK_STATE_WORKING, "run-2"), hers)
        await store.save(a_task("new", TaskState.TASK_STATE_SUBMITTED), hers)
    async with opened(store := new_stores(choice)[0], choice):
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
    store, _ = new_stores(choice)
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

    store, _ = new_stores(choice)
    async with opened(store, choice):
        await store.save(a_task("t", TaskState.TASK_STATE_WORKING, run_id), context_of(""))
        assert await sweep(store, never, NOW) == 1
        task = await store.get("t", context_of(""))
    assert (task.status.state, len(task.artifacts)) == (TaskState.TASK_STATE_FAILED, 0)


async def test_a_store_in_memory_has_nothing_to_sweep():
    assert await sweep(BoundedTaskStore(1), nothing, NOW) == 0
