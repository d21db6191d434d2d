"""`--fail-under-faults` and `--fail-on-repeated-writes` as whoever runs them in a pipeline meets them."""

import argparse

import pytest

from adk_agent.cli.fault_gate import fault_code
from adk_agent.cli.main import main
from adk_agent.results.robustness import RobustnessRow
from evals.statistics import compare
from tests.adk_agent.results.mixed_runs import AGENT, report_of

RUN = ["run", "--domain", "mock", "--offline", "--quiet", "--num-trials", "2"]


def row(plain, faulted, *, agent=AGENT, repeated=0, **changed):
    """A row of one pair for each sign, `+` for passed."""
    before = {str(at): [float(each == "+")] for at, each in enumerate(plain)}
    after = {str(at): [float(each == "+")] for at, each in enumerate(faulted)}
    fields = {
        "participant": agent,
        "domain": "mock",
        "family": "network",
        "pairs": len(plain),
        "faults": {},
        "untouched": 0,
        "without_score": 0,
        "comparison": compare(before, after),
        "repeated_writes": repeated,
        "blind_writes": 0,
        "reason": None,
    }
    return RobustnessRow(**{**fields, **changed})


def judged(*rows, share=None, writes=False):
    report = report_of(["+"]).model_copy(update={"robustness": rows})
    given = argparse.Namespace(fail_under_faults=share, fail_on_repeated_writes=writes)
    return fault_code(report, given)


UNKNOWN = {"comparison": None, "reason": "no fault was drawn; raise the rates or play more trials"}


@pytest.mark.parametrize(
    ("rows", "share", "code", "told"),
    [
        ([row("++++", "+++-")], 0.75, 0, "keeps 0.750 of its pass^1 (0.750 of 1.000, 4 trials"),
        ([row("++++", "+++-")], 0.76, 1, "which is below 0.76"),
        ([row("++--", "+---")], 0.5, 0, "keeps 0.500 of its pass^1 (0.250 of 0.500"),
        ([row("----", "----")], 0.5, 3, "not decided: it passed nothing without faults either"),
        ([row("", "", **UNKNOWN)], 0.5, 3, "not decided: no fault was drawn"),
        ([row("", "", **UNKNOWN), row("++", "--")], 0.5, 1, "which is below 0.5"),
        ([row("", "", injectable=False, **UNKNOWN), row("++", "++")], 1, 0, "which reaches 1"),
        ([row("", "", injectable=False, **UNKNOWN)], 0.5, 3, "no fault could be injected"),
        ([row("++", "--", agent="builtin:null"), row("++", "++")], 1, 0, "which reaches 1"),
    ],
)
def test_what_is_left_of_the_score_under_faults_decides(rows, share, code, told, capsys):
    assert judged(*rows, share=share) == code
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("repeated", "code", "told"),
    [
        ((0, 0), 0, "no write repeated"),
        ((0, 2), 1, "2 writes repeated"),
        ((None, 0), 3, "not decided: its calls of tools are not known"),
        ((None, 1), 1, "1 write repeated"),
    ],
)
def test_a_write_that_was_done_again_decides(repeated, code, told, capsys):
    rows = [row("++", "++", repeated=each) for each in repeated]
    assert judged(*rows, writes=True) == code
    assert told in capsys.readouterr().err


def test_without_these_gates_nothing_is_judged(capsys):
    assert judged(row("++", "--", repeated=3)) == 0
    assert capsys.readouterr().err == ""


def test_an_agent_that_writes_twice_fails_and_one_that_does_not_passes(tmp_path, capsys):
    gates = ["--chaos", "duplicates", "--fail-on-repeated-writes", "--results-dir", str(tmp_path)]
    assert main([*RUN, "--agent", "writes-twice", *gates]) == 1
    assert main([*RUN, "--agent", "idempotent", *gates, "--fail-under-faults", "1"]) == 0
    capsys.readouterr()
    assert main(["resume", "--fail-under-faults", "1.0", "--results-dir", str(tmp_path)]) == 0
    assert "keeps 1.000 of its pass^1" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_gate_on_faults_without_faults_is_refused(more, tmp_path, capsys):
    given = [*RUN, "--agent", "null", "--fail-under-faults", "1", "--results-dir", str(tmp_path)]
    assert main([*given, *more]) == 2
    assert "--fail-under-faults: no faults are injected; add --chaos" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_configuration_file_has_them(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "greenroom.toml").write_text(
        'agents = ["writes-twice"]\ntrials = 2\n[[tasks]]\ndomain = "mock"\n'
        "[chaos]\nduplicate = 0.5\n[gates]\nfail_on_repeated_writes = true\n"
    )
    assert main(["run", "--offline", "--quiet"]) == 1
    assert "--fail-on-repeated-writes: builtin:writes-twice" in capsys.readouterr().err
    (tmp_path / "greenroom.toml").write_text(
        'agents = ["writes-twice"]\n[[tasks]]\ndomain = "mock"\n[gates]\nfail_under_faults = 1\n'
    )
    assert main(["run", "--offline", "--quiet"]) == 2
