"""Where the files of an export go, and what they never replace."""

from pathlib import Path

import pytest

from adk_agent.cli.main import main
from adk_agent.present.exports.output import names_of

from .conftest import trial


def test_the_path_of_what_was_written_is_on_stdout_and_the_default_is_the_runs_folder(
    played, export
):
    assert export(played.results_dir, "csv") == (0, f"{played.folder / 'trials.csv'}\n", "")


def test_a_file_of_ones_own_and_a_folder_of_ones_own(played, export, tmp_path):
    assert export(played.results_dir, "csv", "--out", str(tmp_path / "a" / "b.csv"))[0] == 0
    assert (tmp_path / "a" / "b.csv").read_text().startswith("run_id,")
    for folder in (str(tmp_path), f"{tmp_path}/new/"):
        assert export(played.results_dir, "csv", "--out", folder)[0] == 0
    assert (tmp_path / "trials.csv").read_bytes() == (tmp_path / "new/trials.csv").read_bytes()


def test_stdout_takes_one_file_and_no_more(stored, export):
    results_dir = stored(trial(), trial(participant="builtin:echo"))
    code, out, _ = export(results_dir, "csv", "--out", "-")
    assert (code, out.count("\n")) == (0, 3)
    code, out, err = export(results_dir, "agentbeats", "--out", "-")
    assert (code, out) == (2, "")
    assert "2 files (agentbeats-builtin-null.json, agentbeats-builtin-echo.json)" in err


def test_several_files_are_not_written_into_one(stored, export, tmp_path):
    taken = tmp_path / "taken.json"
    taken.write_text("mine")
    results_dir = stored(trial(), trial(participant="builtin:echo"))
    code, _, err = export(results_dir, "agentbeats", "--out", str(taken))
    assert (code, taken.read_text()) == (2, "mine")
    assert "must name a folder" in err


def test_a_folder_that_cannot_be_written_is_exit_3_and_leaves_no_part_behind(stored, export):
    results_dir = stored(trial())
    target = results_dir / "file"
    target.write_text("")
    code, out, err = export(results_dir, "csv", "--out", str(target / "trials.csv"))
    assert (code, out) == (3, "")
    assert "cannot use" in err


def test_names_of_files_are_distinct_and_without_signs_that_a_shell_reads():
    labels = ["http://a:1/x y", "http://a:1/x*y", "../../etc/passwd"]
    names = names_of("t", ".json", labels)
    assert names == ["t-http-a-1-x-y.json", "t-http-a-1-x-y-2.json", "t-etc-passwd.json"]


@pytest.mark.parametrize("command", [["export", "--to", "csv"], ["view", "--no-open"]])
@pytest.mark.parametrize("name", ["trials.jsonl", "manifest.json", "report.json"])
def test_a_file_of_a_run_is_never_replaced(command, name, played, capsys):
    own = played.folder / name
    before = own.read_bytes()
    given = ["--results-dir", str(played.results_dir), "--out", str(own)]
    assert main([*command, played.run_id, *given]) == 2
    assert "is a file of a run; choose another name" in capsys.readouterr().err
    assert own.read_bytes() == before


def test_what_is_no_regular_file_is_written_to_and_stays_what_it_is(played, export):
    assert export(played.results_dir, "csv", "--out", "/dev/null")[0] == 0
    assert Path("/dev/null").is_char_device()
