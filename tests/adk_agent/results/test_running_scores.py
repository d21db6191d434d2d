"""How a run stands while it goes on."""

import asyncio

from adk_agent.play.evaluation import evaluate
from tests.fakes import scripted_agent, serve

TASKS = ("create_task_1", "update_task_1", "impossible_task_1")


def nothing(text, context_id):
    return "I cannot help with that."


async def test_progress_tells_scores_so_far_and_why_a_trial_has_none(make_deps, make_plan):
    broken = asyncio.Event()

    def reply(text, context_id):
        if broken.is_set():
            raise RuntimeError("out of order")
        return nothing(text, context_id)

    def see(progress):
        seen.append(progress)
        if progress.done == 2:
            broken.set()

    seen = []
    with serve(scripted_agent(reply)) as url:
        plan = make_plan(url, task_ids=TASKS, max_concurrency=1)
        await evaluate(plan, make_deps(), request="r", on_progress=see)
    assert seen[0].scores == ()
    ended = [progress for progress in seen if progress.trial is not None]
    assert [progress.scores[0].tasks for progress in ended] == [1, 2, 3]
    assert ended[0].scores[0].interval.holds(ended[0].scores[0].pass_1)
    assert ended[2].outcome == "not passed"
    assert ended[2].reason
    assert ended[2].message.startswith(f"{ended[2].trial}: not passed: ")
