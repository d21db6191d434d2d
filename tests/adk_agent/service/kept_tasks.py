"""Tasks as a store keeps them."""

from a2a.types import Task, TaskStatus


def a_task(task_id, state, run_id=None):
    task = Task(id=task_id, context_id="c", status=TaskStatus(state=state))
    if run_id is not None:
        task.metadata.update({"progress": {"run_id": run_id, "done": 2}})
    return task
