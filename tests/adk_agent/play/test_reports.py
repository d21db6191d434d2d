"""τ²-bench trials with agents that report calls of their own: what joins, and what cannot harm."""

import json

import pytest

from adk_agent.play.evaluation import evaluate
from adk_agent.runs.store import load_trials
from evals.trace import CALLER_KIND, USER, CallType, Provenance
from tests.fakes import scripted_agent, serve

CREATE = {
    "name": "create_task",
    "arguments": {"user_id": "user_1", "title": "Important Meeting"},
}
DONE = {"name": "respond", "arguments": {"content": "Done. Is there anything else?"}}


def creates_the_task(text, context_id=None):
    return json.dumps(DONE if text.startswith("{") else CREATE)


def by_specification(step_id, callee, **fields):
    action = {"agent_name": callee, "agent_url": f"http://{callee}.test/", "requests": "task?"}
    return {
        "step_id": step_id,
        "trace_id": "theirs",
        "call_type": "AGENT",
        "step_action": {"agent_invocation": action},
        **fields,
    }


def flat(step_id, callee, **fields):
    return {"step_id": step_id, "call_type": "AGENT", "name": callee, "requests": "task?", **fields}


def reports(step):
    """A team of three behind the agent: its entry asks `planner`, who asks `calendar`."""
    planner, calendar = step("1", "planner"), step("2", "calendar", parent_step_id="1")
    return {"trace_id": "theirs", "steps": [planner, calendar]}


@pytest.mark.parametrize("step", [by_specification, flat])
async def test_calls_that_an_agent_reports_join_the_trace_of_its_trial(
    make_team_deps, make_plan, reporting_agent, team_graph, step
):
    deps = make_team_deps()
    agent = reporting_agent(lambda text: (creates_the_task(text), reports(step)))
    with serve(agent) as url:
        report = await evaluate(make_plan(url), deps, request="")
    [record] = load_trials(deps.results_dir, "run-1")
    assert (record.row.reward, record.trace_problems) == (1.0, ())
    agents = record.trace.of_type(CallType.AGENT)
    inner = [call for call in agents if call.provenance is Provenance.REPORTED]
    ours = [call for call in agents if call.provenance is Provenance.OBSERVED]
    assert {(call.caller, call.callee) for call in inner} == {
        (url, "planner"),
        ("planner", "calendar"),
    }
    assert {call.additional_attributes[CALLER_KIND] for call in ours} == {USER}
    assert {call.parent_step_id for call in inner if call.callee == "planner"} <= {
        call.step_id for call in ours
    }
    details = team_graph(report, url)
    assert "pipeline" in details["labels"]
    assert details["graph"]["nodes"] == sorted(["calendar", "planner", url])
    [row] = report.teams
    assert (row.domain, row.measured, row.coverage) == ("mock", 1, 0.0)


def nested(depth):
    """A trace in a trace in a trace."""
    trace = {"trace_id": "t", "steps": []}
    for number in range(depth):
        step = by_specification(str(number), "deeper")
        step["step_action"]["agent_invocation"]["response_trace"] = trace
        trace = {"trace_id": "t", "steps": [step]}
    return trace


HOSTILE = {
    "ten thousand steps": {
        "trace_id": "t",
        "steps": [flat(str(number), f"agent{number % 50}") for number in range(10_000)],
    },
    "a circle of parents": {
        "trace_id": "t",
        "steps": [flat("1", "a", parent_step_id="2"), flat("2", "b", parent_step_id="1")],
    },
    "its own parent": {"trace_id": "t", "steps": [flat("1", "a", parent_step_id="1")]},
    "wrong types": {
        "trace_id": 5,
        "steps": [7, None, [], {"step_id": [], "call_type": {}, "name": 5, "latency": "soon"}],
    },
    "no list of steps": {"trace_id": "t", "steps": {"0": "x"}},
    "a number": 5,
    "a text": "not a trace",
    "a text of a megabyte": {
        "trace_id": "t",
        "steps": [flat("1", "a", requests="x" * 1_000_000, latency="soon")],
    },
    "a name of a megabyte": {"trace_id": "t", "steps": [flat("1", "a" * 1_000_000)]},
    "nested deep": nested(7),
    "clocks that run backwards": {
        "trace_id": "t",
        "steps": [
            flat("1", "a", start_time="2026-01-02T00:00:00Z", end_time="2025-01-02T00:00:00Z")
        ],
    },
    "the assessor as the caller": {
        "trace_id": "t",
        "steps": [{**flat("1", "a"), "caller": "green-agent"}],
    },
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_report_changes_no_score(
    make_team_deps, make_plan, reporting_agent, team_graph, name
):
    deps = make_team_deps()
    agent = reporting_agent(lambda text: (creates_the_task(text), HOSTILE[name]))
    with serve(agent) as url:
        report = await evaluate(make_plan(url), deps, request="")
    [record] = load_trials(deps.results_dir, "run-1")
    [trial] = report.trials
    assert (trial.status, trial.reward) == ("scored", 1.0)
    assert (*record.trace_problems, *team_graph(report, url)["problems"]) != ()
    assert all(len(problem) < 1_000 for problem in record.trace_problems)
    assert {each.status for each in record.evaluations} <= {"scored", "unscored"}
    assert len(record.trace.to_json()) < 8_000_000


async def test_a_trial_says_how_many_reports_were_not_kept(make_team_deps, make_plan):
    deps = make_team_deps()

    def talkative(text, context_id=None):
        traces = [
            {"trace_id": f"{number}", "steps": [flat("1", "a", requests=f"{number}")]}
            for number in range(150)
        ]
        return [creates_the_task(text), *traces]

    with serve(scripted_agent(talkative, reply_transport="artifact_data")) as url:
        await evaluate(make_plan(url), deps, request="")
    [record] = load_trials(deps.results_dir, "run-1")
    [told] = [problem for problem in record.trace_problems if "not kept" in problem]
    assert told == "200 reports not kept: too many or too long for one conversation"


async def test_a_reply_nested_too_deep_for_a2a_is_the_agents_error(
    make_team_deps, make_plan, reporting_agent
):
    agent = reporting_agent(lambda text: (creates_the_task(text), nested(30)))
    with serve(agent) as url:
        report = await evaluate(make_plan(url), make_team_deps(), request="")
    [trial] = report.trials
    assert (trial.fault, trial.reward) == ("agent", 0.0)
    assert "too deep" in trial.reason


async def test_a_report_nested_without_end_in_a_text_changes_no_score(make_team_deps, make_plan):
    text = '{"steps": [' + '{"response_trace": {"steps": [' * 5_000

    def answer(asked, context_id):
        return [creates_the_task(asked), text]

    deps = make_team_deps()
    with serve(scripted_agent(answer)) as url:
        report = await evaluate(make_plan(url), deps, request="")
    assert [trial.status for trial in report.trials] == ["scored"]
