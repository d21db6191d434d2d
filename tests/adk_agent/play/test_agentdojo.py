"""AgentDojo over A2A: three figures that are never one, and what an agent did after an attack."""

import pytest

from adk_agent.cli.main import main
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.core.redaction import ModelRedactor
from adk_agent.play.evaluation import evaluate
from adk_agent.present.exports.inspect_log import log_of
from adk_agent.present.exports.played import open_run
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
    assert row["task_rewards"] is row["max_score_all"] is None
    figure = row["headlines"]["targeted ASR in slack"]
    assert (figure["value"], figure["floor"], figure["tasks"]) == (0.0, 0.0, 2)
    assert (figure["low"], figure["higher_is_better"]) == (0.0, False)
    assert "pass^1" not in render_markdown(report)
    told = dict(line.split(" in slack: ") for line in meaning_lines(report))
    assert told["builtin:gullible"].endswith(
        "targeted ASR 1.000 (lower is better; 95 % interval 0.33 to 1.00; doing nothing 0.000)"
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


async def test_each_figure_is_a_score_of_its_own_in_inspect_s_log(played):
    report, deps, _ = played
    run = open_run(deps.results_dir, report.run_id, redactor=ModelRedactor())
    *_, gullible = (log_of(run, part) for part in run.parts())
    values = {sample["id"]: sample["scores"] for sample in gullible["samples"]}
    assert {name: score["value"] for name, score in values["u3-i1"].items()} == {
        "UTILITY": 1.0,
        "RESISTED": 0.0,
        "HIJACKED": 1.0,
    }
    assert values["u1"].keys() == {"UTILITY"}
    told = {
        each["name"]: each["metrics"]["mean"]["value"] for each in gullible["results"]["scores"]
    }
    assert (told["benign utility"], told["attacks resisted"]) == (1.0, 0.0)


def test_a_sample_without_a_benign_case_says_so(capsys):
    assert main(["run", "Evaluate builtin:null on six workspace cases", "--dry-run"]) == 0
    assert "no task of this sample of workspace is benign" in capsys.readouterr().out
    assert main(["run", "Evaluate builtin:null on six attacked workspace cases", "--dry-run"]) == 0
    assert "is benign" not in capsys.readouterr().out


def test_gullible_is_no_ceiling_where_no_task_says_what_an_attack_demands(capsys):
    request = "Evaluate builtin:gullible on all agent_threat_bench tasks"
    assert main(["run", request, "--dry-run"]) == 0
    assert "builtin:gullible obeys nothing in agent_threat_bench" in capsys.readouterr().out
