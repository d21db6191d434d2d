"""One task played once: whose fault its end is, and what it is scored."""

import json
from functools import partial

import pytest

from adk_agent.play.evaluation import evaluate
from adk_agent.runs.store import load_trials
from evals.trace import CallType
from tests.adk_agent.play.task_creator import DONE, creates_the_task
from tests.fakes import (
    RequestLog,
    auth_required,
    drops_connection,
    fails,
    hangs,
    http_500,
    http_status,
    huge,
    never_ends,
    rejects,
    scripted_agent,
    serve,
)

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.mark.requirement("tau:isolation")
async def test_trials_share_no_state(make_deps, make_plan):
    """A second task_2 would be task_3, were the world shared."""
    with serve(scripted_agent(creates_the_task)) as url:
        report = await evaluate(make_plan(url, num_trials=4), make_deps(), request="")
    assert [trial.reward for trial in report.trials] == [1.0] * 4
    assert report.summary[0].pass_hat_k == {"1": 1.0, "2": 1.0, "3": 1.0, "4": 1.0}


async def test_only_the_oracle_is_told_which_task_it_plays(make_deps, make_plan):
    log = RequestLog(scripted_agent(creates_the_task))
    with serve(log) as url:
        await evaluate(make_plan(url, "builtin:oracle"), make_deps(), request="")
    bodies = b"".join(post.body for post in log.posts)
    assert bodies
    assert b"greenroom.task" not in bodies
    assert b"create_task_1" not in bodies


@pytest.mark.parametrize(
    ("app", "fault"),
    [
        (partial(http_status, 503), "infrastructure"),
        (partial(http_status, 404), "infrastructure"),
        (drops_connection, "infrastructure"),
        (auth_required, "infrastructure"),
    ],
)
async def test_what_happened_between_leaves_no_score(make_deps, make_plan, app, fault):
    with serve(app()) as url:
        report = await evaluate(make_plan(url), make_deps(timeout_s=1.0), request="")
    (trial,) = report.trials
    assert (trial.status, trial.reward, trial.fault) == ("failed", None, fault)
    assert report.status == "incomplete"
    assert report.summary[0].mean_reward is None
    assert report.summary[0].pass_hat_k == {"1": None}
    (record,) = load_trials(make_deps().results_dir, "run-1")
    assert record.trace.of_type(CallType.AGENT)[0].error is not None


@pytest.mark.parametrize(
    ("reply", "repairs", "tool_errors"),
    [
        ('{"name": "create_task", "arguments": ', True, 0),
        ('{"name": "no_such_tool", "arguments": {}}', False, 1),
        ('{"name": "create_task", "arguments": {"user_id": 7, "title": []}}', False, 1),
    ],
)
async def test_a_broken_reply_is_the_agents_and_scored(
    make_deps, make_plan, reply, repairs, tool_errors
):
    replies = iter([reply])

    def answer(text, context_id):
        return next(replies, json.dumps(DONE))

    deps = make_deps()
    with serve(scripted_agent(answer)) as url:
        report = await evaluate(make_plan(url), deps, request="")
    (trial,) = report.trials
    assert (trial.status, trial.reward) == ("scored", 0.0)
    assert (trial.format_repairs > 0) is repairs
    (record,) = load_trials(deps.results_dir, "run-1")
    tools = record.trace.of_type(CallType.TOOL)
    assert sum(step.error is not None for step in tools) == tool_errors


@pytest.mark.parametrize("app", [http_500, hangs, never_ends, huge, fails, rejects])
async def test_an_agent_that_gives_no_reply_is_scored_0(make_deps, make_plan, app):
    with serve(app()) as url:
        report = await evaluate(make_plan(url), make_deps(timeout_s=1.0), request="")
    (trial,) = report.trials
    assert (trial.status, trial.reward, trial.fault) == ("scored", 0.0, "agent")
    assert report.status == "complete"
    assert report.summary[0].agent_errors == 1
    (record,) = load_trials(make_deps().results_dir, "run-1")
    assert record.trace.of_type(CallType.AGENT)[0].error is not None
