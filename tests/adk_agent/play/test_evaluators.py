"""Metrics and evaluators of installed distributions: used where they work, told where not."""

import asyncio
import json
import logging
from textwrap import dedent, indent

import pytest

from adk_agent.cli.main import main
from adk_agent.play.evaluators import trace_evaluators
from evals.base import EvaluationContext
from evals.trace import CallType, InteractionStep, Trace

TRACE = Trace(
    trace_id="t",
    steps=tuple(
        InteractionStep(
            step_id=callee, trace_id="t", call_type=CallType.AGENT, caller="lead", callee=callee
        )
        for callee in ("orders", "policy", "money")
    ),
)

METRIC = """
from evals.graph.metric import Metric
class Plugin(Metric):
    name = {name!r}
    formula = "calls"
    source = "a test"
    range = "0 and more"
    needs = "nothing"
    def compute(self, team):
{body}
"""
EVALUATOR = """
from evals.base import BaseEvaluator, Tier
class Plugin(BaseEvaluator):
    name = {name!r}
    tier = Tier.TEXT
    version = "1"
    async def evaluate(self, context):
{body}
"""
HANGS = "import threading\nthreading.Event().wait()"


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a distribution that offers one plugin, as a package manager would."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)

    def add(kind, name, source, *, target="Plugin"):
        module = f"plugin_{tmp_path.name}_{name}"
        (folder / f"{module}.py").write_text(source)
        info = folder / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        entry = f"[greenroom.{kind}]\n{name} = {module}:{target}\n"
        (info / "entry_points.txt").write_text(entry)

    return add


def source(template, name, body):
    return template.format(name=name, body=indent(dedent(body), " " * 8))


def evaluations(**limits):
    registry = trace_evaluators(**limits)
    done = asyncio.run(registry.run(EvaluationContext(trace=TRACE)))
    return {each.evaluator: each for each in done}


def metric_of(found, name):
    return found["graph"].details["metrics"][name]


def test_a_metric_of_a_distribution_is_computed_listed_and_switched_off(install, tmp_path, capsys):
    install("metrics", "calls_in_all", source(METRIC, "calls_in_all", "return len(team.calls)"))
    assert metric_of(evaluations(), "calls_in_all")["value"] == 3
    assert main(["list", "metrics"]) == 0
    assert "calls_in_all" in capsys.readouterr().out
    path = tmp_path / "trace.json"
    path.write_text(TRACE.to_json())
    assert main(["score", str(path), "--json", "--without", "calls_in_all"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert "calls_in_all" not in row["metrics"]
    assert "hub" in row["labels"]


def test_an_evaluator_of_a_distribution_runs_and_is_listed(install, capsys):
    body = "return self.scored({'steps': float(len(context.trace.steps))})"
    install("evaluators", "step_count", source(EVALUATOR, "step_count", body))
    assert evaluations()["step_count"].values == {"steps": 3.0}
    assert main(["list", "evaluators"]) == 0
    assert "step_count" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["metrics", "evaluators"])
@pytest.mark.parametrize(
    ("text", "target", "told"),
    [
        ("raise ValueError('no licence')", "Plugin", "ValueError: no licence"),
        ("import no_such_module", "Plugin", "ModuleNotFoundError"),
        ("x = 1", "Plugin", "AttributeError"),
        ("Plugin = 5", "Plugin", "is a int, not a"),
        ("class Plugin:\n    def __init__(self): raise OSError('gone')", "Plugin", "OSError: gone"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_left_out_with_a_warning(
    install, kind, text, target, told
):
    install(kind, "broken", text, target=target)
    found = evaluations()
    [warning] = found["graph"].warnings
    assert warning.startswith(f"{kind.removesuffix('s')} plugin 'broken' is left out: ")
    assert told in warning
    assert_others_scored(found)


def assert_others_scored(found):
    assert found["graph"].status == "scored"
    assert metric_of(found, "density")["value"] == 0.25
    assert {found[name].status for name in ("judge", "failure_modes")} == {"scored"}


@pytest.mark.parametrize(
    ("kind", "template", "name"),
    [
        ("metrics", METRIC, "density"),
        ("evaluators", EVALUATOR, "graph"),
        ("evaluators", EVALUATOR, "text_similarity"),
        ("evaluators", EVALUATOR, "labels"),
    ],
)
def test_a_plugin_with_a_name_that_is_taken_is_left_out_with_a_warning(
    install, kind, template, name
):
    install(kind, "impostor", source(template, name, "return 99"))
    found = evaluations()
    [warning] = found["graph"].warnings
    assert f"{kind.removesuffix('s')} plugin 'impostor' is left out" in warning
    assert repr(name) in warning
    assert_others_scored(found)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise KeyError('lead')", "KeyError: 'lead'"),
        ("return 'many'", "returned a str, not a number"),
        ("return float('nan')", "nan, which is no finite number"),
        ("return None", "NoneType"),
        (HANGS, "took longer than 0.5 s"),
        ("raise SystemExit(3)", "SystemExit"),
    ],
)
def test_a_metric_that_breaks_has_no_value_and_the_others_keep_theirs(install, body, told, caplog):
    caplog.set_level(logging.WARNING)
    install("metrics", "broken", source(METRIC, "broken", body))
    found = evaluations(**({"metrics_timeout_s": 0.5} if body == HANGS else {}))
    value = metric_of(found, "broken")
    assert (value["value"], value["status"]) == (None, "failed")
    assert told in value["reason"]
    assert not caplog.records
    assert "broken" not in found["graph"].values
    assert_others_scored(found)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise KeyError('lead')", "KeyError: 'lead'"),
        ("return {'steps': 3}", "returned a dict, not an Evaluation"),
        (HANGS, "took longer than its share of 6 s"),
        ("import asyncio\nawait asyncio.Event().wait()", "took longer than its share of 6 s"),
        ("raise SystemExit(3)", "SystemExit"),
    ],
)
def test_an_evaluator_that_breaks_is_failed_and_the_others_are_scored(install, body, told, caplog):
    caplog.set_level(logging.WARNING)
    evaluations()  # what has to be imported is not a matter of the limit
    install("evaluators", "broken", source(EVALUATOR, "broken", body))
    found = evaluations(**({"timeout_s": 6.0} if "Event" in body else {}))
    assert (found["broken"].status, found["broken"].values) == ("failed", {})
    assert told in found["broken"].reason
    assert not caplog.records
    assert_others_scored(found)


def test_a_scored_file_holds_what_plugins_made_and_why_they_failed(install, tmp_path, capsys):
    install("evaluators", "steps", source(EVALUATOR, "steps", "return self.scored({'n': 3.0})"))
    install("evaluators", "broken", source(EVALUATOR, "broken", "raise KeyError('lead')"))
    install("metrics", "missing", "import no_such_module")
    path = tmp_path / "trace.json"
    path.write_text(TRACE.to_json())
    assert main(["score", str(path), "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert row["steps"]["values"] == {"n": 3.0}
    assert (row["broken"]["status"], row["broken"]["reason"]) == ("failed", "KeyError: 'lead'")
    assert any("'missing' is left out" in warning for warning in row["warnings"])
    assert main(["score", str(path)]) == 0
    text = capsys.readouterr().out
    assert "'missing' is left out" in text
    assert "broken: failed: KeyError: 'lead'" in text


@pytest.mark.parametrize("kind", ["metrics", "evaluators"])
def test_lists_and_runs_warn_of_a_plugin_that_is_left_out(install, kind, tmp_path, capsys):
    install(kind, "missing", "import no_such_module")
    warning = f"{kind.removesuffix('s')} plugin 'missing' is left out"
    assert main(["list", kind]) == 0
    assert warning in capsys.readouterr().err
    flags = ["--limit", "1", "--offline", "--json", "--results-dir", str(tmp_path)]
    assert main(["run", "Evaluate builtin:null on mock", *flags]) == 0
    printed = capsys.readouterr()
    assert any(warning in each for each in json.loads(printed.out)["warnings"])
    assert warning in " ".join(printed.err.split())
