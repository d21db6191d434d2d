"""A benchmark of another package: everything works for it without an edit of ours.

The package is the one that docs/benchmarks.md shows, installed as a package manager would.
"""

import json
import re
import sys
from pathlib import Path

import pytest

from adk_agent.cli.main import main
from tests.fakes import scripted_agent, serve

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
PACKAGE = re.search(r"<!-- file: trivia.py -->\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[
    1
]
ANSWERS = {"capital": "It is Ulaanbaatar.", "liquid": "That is mercury.", "nearest": "Venus?"}

pytestmark = pytest.mark.usefixtures("installed", "quick_start")


@pytest.fixture
def installed(tmp_path, monkeypatch):
    site = tmp_path / "site"
    info = site / "greenroom_trivia-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "trivia.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: greenroom-trivia\nVersion: 1.0\n")
    entry = "[greenroom.benchmarks]\ntrivia = trivia:TriviaBenchmark\n"
    (info / "entry_points.txt").write_text(entry)
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "trivia", raising=False)


@pytest.fixture
def greenroom(tmp_path, capsys):
    """Runs a command; returns its exit code and output."""

    def run(*words):
        code = main([*words, "--results-dir", str(tmp_path / "results")])
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


@pytest.fixture
def knowing():
    """An agent that knows two of three answers."""

    def answer(text, context_id):
        return next(said for word, said in ANSWERS.items() if word in text)

    with serve(scripted_agent(answer)) as url:
        yield url


@pytest.fixture
def played(greenroom, knowing, tmp_path):
    """Plays a request; returns its report."""

    def play(request, *flags):
        before = set((tmp_path / "results").glob("*"))
        code, output = greenroom("run", request, "--offline", "--quiet", *flags)
        assert code == 0, output
        [folder] = set((tmp_path / "results").glob("*")) - before
        return json.loads((folder / "report.json").read_text())

    return play


def test_it_is_listed_with_its_tasks(greenroom):
    code, domains = greenroom("list", "domains")
    assert code == 0
    assert re.search(r"^trivia  3 tasks  base  trivia  sha256:", domains, re.MULTILINE)
    _, tasks = greenroom("list", "tasks", "--domain", "trivia")
    assert tasks.splitlines()[1] == "metal    [ANSWER]  Which metal is liquid at room temperature?"
    _, named = greenroom("list", "trivia")
    assert named.startswith("capital  What is the capital of Mongolia?")


@pytest.mark.requirement("seam:benchmark")
def test_a_sentence_plays_it_with_its_floor_and_ceiling(played, knowing):
    report = played(f"Evaluate the agent at {knowing} on all trivia tasks, two trials each")
    (row,) = report["summary"]
    assert (row["domain"], row["tasks"], row["trials"]) == ("trivia", 3, 6)
    assert row["pass_hat_k"] == {"1": pytest.approx(2 / 3, abs=1e-6), "2": pytest.approx(2 / 3)}
    assert (row["floor"]["pass_1"], row["ceiling"]["pass_1"]) == (0.0, 1.0)
    assert {trial["task_id"]: trial["reward"] for trial in report["trials"]} == {
        "capital": 1.0,
        "metal": 1.0,
        "planet": 0.0,
    }
    assert report["trials"][0]["reward_breakdown"] == {"ANSWER": 1.0}


def test_json_and_flags_play_it(played, knowing):
    config = {"domain": "trivia", "task_ids": ["metal", "planet"]}
    request = json.dumps({"participants": {"agent": knowing}, "config": config})
    report = played(request, "--num-trials", "3", "--limit", "1")
    assert [trial["task_id"] for trial in report["trials"]] == ["metal"] * 3


def test_a_split_that_it_does_not_have_is_refused_and_not_taken_for_another(greenroom):
    config = {"domain": "trivia", "split": "hard"}
    request = json.dumps({"participants": {"agent": "builtin:null"}, "config": config})
    for words in (["run", request], ["list", "tasks", "--domain", "trivia", "--split", "hard"]):
        code, output = greenroom(*words)
        assert (code, output) == (2, "greenroom: tasks have no split 'hard', only 'base'\n")


def test_a_sentence_with_a_number_plays_as_many(played, knowing):
    report = played(f"Evaluate {knowing} on two trivia tasks")
    assert [trial["task_id"] for trial in report["trials"]] == ["capital", "metal"]


def test_its_options_are_given_by_json_or_a_flag(played, greenroom, knowing, tmp_path):
    (tmp_path / "site" / "trivia.py").write_text(
        PACKAGE.replace(
            "class TriviaBenchmark(Benchmark):",
            "from tau_bridge.benchmark import NoOptions\n\n"
            "class Options(NoOptions):\n    backwards: bool = False\n\n"
            "class TriviaBenchmark(Benchmark):\n    options_type = Options",
        ).replace(
            "question, right = QUESTIONS[ref.id]",
            "question, right = QUESTIONS[ref.id]\n"
            "        question = question[::-1] if self.options.backwards else question",
        )
    )
    asked = f"Evaluate the agent at {knowing} on all trivia tasks"
    assert played(asked)["trials"][0]["status"] == "scored"
    backwards = played(asked, "--option", "backwards=true")
    assert backwards["plan"]["options"] == {"backwards": True}
    assert {trial["fault"] for trial in backwards["trials"]} == {
        "agent"
    }  # it fails at words unknown
    config = {"domain": "trivia", "options": {"backwards": True}}
    request = json.dumps({"participants": {"agent": knowing}, "config": config})
    assert played(request)["plan"]["options"] == {"backwards": True}
    for flag in ("forwards=true", "backwards=perhaps"):
        code, output = greenroom("run", asked, "--offline", "--option", flag)
        assert code == 2
        assert flag.split("=")[0] in output


def test_a_run_of_it_is_seen_exported_compared_and_resumed(played, greenroom, knowing, tmp_path):
    request = f"Evaluate the agent at {knowing} on all trivia tasks"
    first, second = played(request)["run_id"], played(request)["run_id"]
    folder = tmp_path / "results" / first
    assert greenroom("view", first)[0] == 0
    assert "trivia" in (folder / "report.html").read_text()
    for form in ("csv", "junit", "inspect", "otlp", "agentbeats"):
        code, output = greenroom("export", first, "--to", form)
        assert code == 0, output
    assert "reward_answer" in (folder / "trials.csv").read_text().splitlines()[0]
    code, compared = greenroom("compare", first, second)
    assert code == 0, compared
    lines = (folder / "trials.jsonl").read_text().splitlines(keepends=True)
    (folder / "trials.jsonl").write_text("".join(lines[:-1]))
    (folder / "report.json").unlink()
    status = json.loads((folder / "status.json").read_text())
    (folder / "status.json").write_text(json.dumps({**status, "state": "interrupted"}))
    code, resumed = greenroom("resume", first, "--offline", "--quiet")
    assert code == 0, resumed
    assert len(json.loads((folder / "report.json").read_text())["trials"]) == 3
    assert len((folder / "trials.jsonl").read_text().splitlines()) == 3


def test_a_run_goes_on_only_with_the_same_questions(
    played, greenroom, knowing, tmp_path, monkeypatch
):
    run_id = played(f"Evaluate the agent at {knowing} on all trivia tasks")["run_id"]
    import trivia

    monkeypatch.setitem(trivia.QUESTIONS, "capital", ("What is the capital of Peru?", "Lima"))
    code, output = greenroom("resume", run_id, "--offline", "--retry", "all")
    assert code == 2
    assert "data of trivia: trivia, sha256:" in output


def test_a_format_of_another_benchmark_says_that_the_run_has_none_of_it(played, greenroom, knowing):
    run_id = played(f"Evaluate the agent at {knowing} on all trivia tasks")["run_id"]
    code, output = greenroom("export", run_id, "--to", "tau2")
    assert code == 2
    assert output == f"greenroom: run {run_id} has no trial of a τ²-bench domain\n"


def test_a_benchmark_that_breaks_when_it_is_loaded_is_left_out_with_a_warning(greenroom, tmp_path):
    (tmp_path / "site" / "trivia.py").write_text("raise RuntimeError('no luck')")
    code, output = greenroom("list", "domains")
    assert code == 0
    assert "benchmark 'trivia' is left out: RuntimeError: no luck" in output
    code, output = greenroom("run", "Evaluate builtin:null on two trivia tasks", "--offline")
    assert code == 2
    assert "trivia" in output


def test_a_benchmark_with_a_domain_that_there_is_already_is_left_out(greenroom, tmp_path):
    path = tmp_path / "site" / "trivia.py"
    path.write_text(PACKAGE.replace('DomainInfo(name="trivia"', 'DomainInfo(name="mock"'))
    code, output = greenroom("list", "domains")
    assert code == 0
    assert "benchmark 'trivia' is left out: 'tau2' has a domain 'mock' already" in output
