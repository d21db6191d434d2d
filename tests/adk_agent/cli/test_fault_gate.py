"""`--fail-under-faults` and `--fail-on-repeated-writes` as whoever runs them in a pipeline meets them."""

import argparse

import pytest

from adk_agent.cli.fault_gate import fault_code
from adk_agent.cli.main import main
from adk_agent.results.robustness import FaultedTrial, robustness_row
from tau_bridge.chaos.injector import InjectedFault
from tests.adk_agent.cli.test_gate import report_of, trials_of

RUN = ["run", "--domain", "mock", "--offline", "--quiet", "--num-trials", "2"]
FAULT = InjectedFault(kind="duplicate", place=1, detail="sent twice")


def faulted(plain, again, *, agent="a", family="duplicates", writes=0):
    """A report of one agent: `+` passed, `-` not, `?` no score, and a blank met no fault."""
    plays = tuple(
        FaultedTrial(
            family=family,
            row=row,
            faults=() if end == " " else (FAULT,),
            repeated_writes=writes,
            blind_writes=0,
        )
        for row, end in zip(trials_of(agent, "mock", again), again, strict=False)
    )
    report = report_of({agent: {"mock": plain}})
    trials = {row.key: row for row in report.trials}
    row = robustness_row(agent, "mock", family, trials, plays)
    return report.model_copy(update={"faulted": plays, "robustness": (row,)})


def together(*reports):
    rows = tuple(row for each in reports for row in each.robustness)
    plays = tuple(play for each in reports for play in each.faulted)
    return reports[0].model_copy(update={"robustness": rows, "faulted": plays})


def judged(report, *, share=None, writes=False):
    given = argparse.Namespace(fail_under_faults=share, fail_on_repeated_writes=writes)
    return fault_code(report, given)


@pytest.mark.parametrize(
    ("plain", "again", "share", "code", "told"),
    [
        ("++++", "+++-", 0.75, 0, "keeps 0.750 of its pass^1 (0.750 of 1.000, 4 trials"),
        ("++++", "+++-", 0.76, 1, "which is below 0.76"),
        ("++--", "+---", 0.5, 0, "keeps 0.500 of its pass^1 (0.250 of 0.500"),
        ("+++", "++?", 1.0, 3, "trials without two scores (1) leave it open"),
        ("+++", "++?", 0.5, 0, "which reaches 0.5"),
        ("+++", "--?", 0.5, 1, "which is below 0.5"),
        ("----", "----", 0.5, 3, "not decided: it passed nothing without faults either"),
        ("++", "  ", 0.0, 3, "not decided: no fault was drawn"),
    ],
)
def test_what_is_left_of_the_score_under_faults_decides(plain, again, share, code, told, capsys):
    assert judged(faulted(plain, again), share=share) == code
    err = capsys.readouterr().err
    assert err.startswith("greenroom: --fail-under-faults: a in mock under duplicates: ")
    assert told in err


def test_a_loss_counts_whatever_is_open_elsewhere(capsys):
    lost, unknown = faulted("++", "--"), faulted("++", "  ", family="network")
    assert judged(together(lost, unknown), share=0.5) == 1


def test_faults_that_cannot_be_injected_are_left_out_beside_others(capsys):
    kept, never = faulted("++", "++"), faulted("++", "", family="members")
    assert judged(together(kept, never), share=1) == 0
    assert judged(never, share=1) == judged(never, writes=True) == 3
    assert "not decided: no fault could be injected" in capsys.readouterr().err


def test_the_floor_is_not_held_to_it_beside_an_agent(capsys):
    floor = faulted("++", "--", agent="builtin:null", writes=3)
    assert judged(together(faulted("++", "++"), floor), share=1, writes=True) == 0


@pytest.mark.parametrize(
    ("again", "writes", "code", "told"),
    [
        ("++", 0, 0, "no write repeated"),
        ("+ ", 1, 1, "1 write repeated"),
        ("+?", 1, 1, "2 writes repeated"),
        ("+?", 0, 3, "trials without two scores (1) leave it open"),
        ("++", None, 3, "not decided: its calls of tools are not known"),
        ("  ", 0, 3, "not decided: no fault was drawn"),
    ],
)
def test_a_write_that_was_done_again_decides(again, writes, code, told, capsys):
    assert judged(faulted("++", again, writes=writes), writes=True) == code
    assert told in capsys.readouterr().err


def test_without_these_gates_nothing_is_judged(capsys):
    assert judged(faulted("++", "--", writes=3)) == 0
    assert capsys.readouterr().err == ""


def test_a_dry_run_keeps_the_gates_in_the_explicit_command(tmp_path, capsys):
    flags = ["--chaos", "network", "--fail-under-faults", "0.9", "--fail-on-repeated-writes"]
    request = ["run", "builtin:null on one mock task", "--dry-run", "--results-dir", str(tmp_path)]
    assert main([*request, *flags]) == 0
    shown = capsys.readouterr().out
    assert "--fail-under-faults 0.9" in shown
    assert "--fail-on-repeated-writes" in shown


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
