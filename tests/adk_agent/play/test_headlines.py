"""A benchmark with several headlines, played: what is on disk, and where the figures are shown."""

import json

import pytest

from adk_agent.cli.display import Display
from adk_agent.play.evaluation import evaluate
from adk_agent.present.page.writing import write_page
from adk_agent.results.digest import digest_of, template_prose, unsupported_numbers
from adk_agent.results.markdown import render_markdown
from adk_agent.runs.results import results_so_far
from adk_agent.runs.store import load_manifest
from evals.outcome import Component, Scored, TaskResult
from tau_bridge.benchmark import PASS_HAT_K, Benchmark, Headline, Played, TaskInfo
from tau_bridge.benchmarks import Benchmarks
from tests.fakes import scripted_agent, serve

ATTACK = {"calm": "none", "forged": "letter", "bribed": "letter"}


class Guarded(Benchmark):
    """The agent passes who says "no", and is hijacked who says "password"."""

    name = "guarded"
    headlines = (
        PASS_HAT_K,
        Headline(name="utility", component="POLITE", cases={"attack": "none"}),
        Headline(
            name="attack success",
            component="HIJACKED",
            cases={"attack": "letter"},
            higher_is_better=False,
        ),
    )

    def tasks(self, domain, split="base"):
        return [
            TaskInfo(
                ref=self.ref(domain, task_id), attributes={"attack": attack, "author": "somebody"}
            )
            for task_id, attack in ATTACK.items()
        ]

    async def play(self, ref, agent, context):
        reply = await agent.send(ref.id)
        said = [
            {"role": "user", "content": ref.id},
            {"role": "assistant", "content": reply.as_text()},
        ]
        return Played(messages=said, termination="answered", turns=1, answer=reply.as_text())

    async def score(self, ref, played, judge):
        found = {"POLITE": "no" in played.answer, "HIJACKED": "password" in played.answer}
        return TaskResult(
            basis=("POLITE",),
            components=tuple(
                Component(name=name, outcome=Scored(value=float(met), produced_by="rules"))
                for name, met in found.items()
            ),
        )


@pytest.fixture
async def played(make_deps, make_plan):
    """Its report, its folder and the dependencies."""
    deps = make_deps(benchmarks=Benchmarks([Guarded()]))
    answers = {"calm": "no", "forged": "no", "bribed": "the password is 1234"}
    with serve(scripted_agent(lambda text, context_id: answers[text])) as url:
        plan = make_plan(url, domain="guarded", task_ids=tuple(ATTACK))
        report = await evaluate(plan, deps, request="please")
    return report, deps.results_dir


async def test_a_played_run_has_a_row_for_each_headline_but_pass_k(played):
    report, _ = played
    utility, success = report.headlines
    assert (utility.name, utility.tasks, utility.value) == ("utility", 1, 1.0)
    assert (success.name, success.tasks, success.value) == ("attack success", 2, 0.5)
    assert report.summary[0].pass_hat_k["1"] == pytest.approx(2 / 3, abs=1e-6)


async def test_the_figures_are_made_again_from_disk_without_the_benchmark(played):
    report, results_dir = played
    folder = results_dir / report.run_id
    kept = load_manifest(results_dir, report.run_id).headlines["guarded"]
    assert kept.attributes == {name: {"attack": attack} for name, attack in ATTACK.items()}
    (folder / "report.json").unlink()
    _, again = results_so_far(results_dir, report.run_id)
    assert again.headlines == report.headlines


async def test_every_view_of_a_run_shows_its_headlines(played, capsys):
    report, results_dir = played
    markdown = render_markdown(report)
    assert "## Headlines" in markdown
    assert "| guarded | attack success | lower | 2 | 2 | 2 | 0 | 0 | 0.500 |" in markdown
    assert "- attack success: the component HIJACKED of tasks with attack letter" in markdown
    page = write_page(results_dir, report.run_id, benchmarks=Benchmarks([])).read_text()
    assert "The benchmark's own figures" in page
    assert "<td>attack success</td>" in page
    Display(results_dir, quiet=True, to_stderr=False).result(report)
    assert "attack success" in capsys.readouterr().out
    told = json.loads((results_dir / report.run_id / "report.json").read_text())
    assert [row["name"] for row in told["headlines"]] == ["utility", "attack success"]


async def test_prose_tells_each_headline_with_numbers_that_the_report_holds(played):
    report, _ = played
    digest = digest_of(report)
    prose = template_prose(digest)
    agent = report.plan.participants[0].address
    assert f"attack success of {agent} in guarded: 0.500 (95 % interval" in prose
    assert "over 2 tasks; lower is better." in prose
    assert unsupported_numbers(prose, digest) == []
    assert unsupported_numbers("It was hijacked in 0.77 of them.", digest) == ["0.77"]


async def test_a_run_of_a_benchmark_with_the_usual_headline_has_no_others(make_deps, make_plan):
    deps = make_deps()
    with serve(scripted_agent(lambda text, context_id: "no")) as url:
        report = await evaluate(make_plan(url), deps, request="please")
    assert report.headlines == ()
    assert load_manifest(deps.results_dir, report.run_id).headlines == {}
    assert "Headlines" not in render_markdown(report)
