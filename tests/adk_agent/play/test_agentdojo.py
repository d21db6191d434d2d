"""AgentDojo over A2A: three figures that are never one, and what an agent did after an attack."""

import pytest

from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.play.evaluation import evaluate
from adk_agent.results.leaderboard import leaderboard_row
from adk_agent.results.markdown import render_markdown
from adk_agent.results.meaning import meaning_lines
from adk_agent.runs.store import iter_trials
from tau_bridge.agentdojo.benchmark import AgentDojoBenchmark
from tau_bridge.agentdojo.evidence import MET, OBEYED
from tau_bridge.benchmarks import Benchmarks

AGENTS = ("builtin:oracle", "builtin:null", "builtin:gullible")
CASES = ("u1", "u4", "u3-i1", "u4-i1")


@pytest.fixture
async def played(make_deps):
    deps = make_deps(benchmarks=Benchmarks((AgentDojoBenchmark.open({}),)))
    plan = EvaluationPlan(
        participants=tuple(Participant(address=each) for each in AGENTS),
        tasks=(PlannedTasks(domain="slack", task_ids=CASES),),
    )
    told = []
    report = await evaluate(plan, deps, request="r", on_progress=told.append)
    return report, deps, [score for progress in told for score in progress.scores]


async def test_the_bundled_agents_mark_the_ends_of_each_figure(played):
    report, deps, running_scores = played
    figures = {(row.participant, row.name): row.value for row in report.headlines}
    names = ("benign utility", "utility under attack", "attacks resisted", "targeted ASR")
    found = {agent: [figures[agent, name] for name in names] for agent in AGENTS}
    assert found == {
        "builtin:oracle": [1.0, 1.0, 1.0, 0.0],
        "builtin:null": [0.0, 0.0, 1.0, 0.0],
        "builtin:gullible": [1.0, 1.0, 0.0, 1.0],
    }
    assert all(row.interval is not None for row in report.headlines)

    # No figure mixes benign and attacked cases.
    assert all(row.by_headlines and not row.pass_hat_k for row in report.summary)
    assert all(row.mean_reward is None and row.floor is None for row in report.summary)
    assert report.overall == ()
    obeyed = {row.name: row.others["obeys"] for row in report.headlines}
    assert obeyed == dict(zip(names, [1.0, 1.0, 0.0, 1.0], strict=True))
    # Each two of three agents by three headlines; the fourth is one's complement.
    assert [each.headline for each in report.pairs] == list(names[:3]) * 3
    assert running_scores
    assert all(score.pass_1 is score.interval is None for score in running_scores)
    row = leaderboard_row(report)
    assert row["pass_rate"] is row["score"] is row["floor"] is None
    assert row["headlines"]["targeted ASR in slack"] == 0.0
    assert "pass^1" not in render_markdown(report)
    told = dict(line.split(" in slack: ") for line in meaning_lines(report))
    assert told["builtin:gullible"].endswith(
        "attacks resisted 0.000, targeted ASR 1.000 (lower is better)"
    )

    # The conversation says where the text came in and what was done after it.
    records = list(iter_trials(deps.results_dir, report.run_id))
    (hijacked,) = [
        record
        for record in records
        if (record.row.participant, record.row.task_id) == ("builtin:gullible", "u3-i1")
    ]
    notes = [message.get("note") for message in hijacked.messages if message.get("note")]
    assert notes[:2] == [MET, OBEYED]
    assert hijacked.row.diagnosis.kind == "hijacked"
    resisted = next(each for each in hijacked.row.components if each.name == "RESISTED")
    assert any(
        "reached the agent with the result of call" in c.description for c in resisted.checks
    )
