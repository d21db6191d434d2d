"""Teams of a user's own: plain a2a-sdk agents, played with files of tasks and with exercises."""

import json

import pytest

from adk_agent.play.evaluation import evaluate
from adk_agent.requests.planning import resolve
from adk_agent.runs.store import load_trials
from tests.fakes.own_team import Member, served

pytestmark = [pytest.mark.usefixtures("quick_start"), pytest.mark.requirement("use:own-team")]

EXERCISE = "ex01_return_with_fee"


def chain():
    """A planner asks a coder, and the coder a tester."""
    return Member("planner", "coder"), Member("coder", "tester"), Member("tester")


@pytest.fixture
def make_plan_of(read, benchmarks):
    """The plan that AgentBeats JSON makes of members by role."""

    def make(members, *, entry, **config):
        config = {"domain": "coordination", "task_ids": [EXERCISE], "entry": entry, **config}
        request = read(json.dumps({"participants": members, "config": config}))
        return resolve(request, benchmarks)

    return make


def told(trace):
    """What a trace says, without its ids."""
    names = {step.step_id: number for number, step in enumerate(trace.steps)}
    return [
        (
            *(step.caller, step.callee, step.request_text, step.response_text, step.error),
            names.get(step.parent_step_id),
            {
                key: value
                for key, value in step.additional_attributes.items()
                if key not in ("context_id", "task_id")
            },
        )
        for step in trace.steps
    ]


@pytest.mark.parametrize("entry", ["planner", "all"])
async def test_identical_trials_of_a_foreign_team_have_identical_traces_and_labels(
    make_team_deps, make_plan_of, entry
):
    deps = make_team_deps()
    with served(*chain()) as members:
        plan = make_plan_of(members, entry=entry, num_trials=3)
        report = await evaluate(plan, deps, request="")
    by_agent = {}
    for record in load_trials(deps.results_dir, "run-1"):
        assert record.trace_problems == ()
        by_agent.setdefault(record.row.participant, []).append(told(record.trace))
    for traces in by_agent.values():
        assert len(traces) == 3
        assert traces[0] == traces[1] == traces[2]
    [planner, *_] = report.teams
    assert planner.participant == members["planner"]
    assert (planner.measured, planner.agents, planner.calls) == (3, 3, 6)
    assert set(planner.labels.values()) == {3}
    assert "pipeline" in planner.labels


async def test_a_member_that_another_asks_is_told_its_own_peers_before_it_answers(
    make_team_deps, make_plan_of
):
    planner, coder, tester = chain()
    with served(planner, coder, tester) as members:
        await evaluate(make_plan_of(members, entry="planner"), make_team_deps(), request="")
    assert [sorted(each) for each in (*planner.told, *coder.told, *tester.told)] == [
        ["coder", "tester"],
        ["planner", "tester"],
        ["coder", "planner"],
    ]
    [text] = coder.texts
    asked, *lines = text.splitlines()
    assert asked == "planner asks: what do you know?"
    assert lines[-2:] == [f"- {role}: {url}" for role, url in sorted(coder.told[0].items())]
