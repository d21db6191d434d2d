"""`greenroom data`: current tasks are one command away, and stay what every command plays."""

import json
import os
import subprocess
import sys
import tarfile

import pytest

from adk_agent.cli.main import main
from tests.fakes.file_server import ServedFile, serve_file

pytestmark = pytest.mark.requirement("bench:data")
INSTALLED = sys.executable
COMMIT, OTHER_COMMIT = "0123456789" * 4, "abcdef0123" * 4
KNOWN = "a2c024725189473d2d7cea3a5cfdbcc67478e41f"


@pytest.fixture
def data_dir(tmp_path, monkeypatch):
    folder = tmp_path / "fetched"
    monkeypatch.setenv("GREENROOM_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def checkout(tmp_path):
    """A checkout with a mock domain of our own."""
    domain = tmp_path / "checkout" / "data" / "tau2" / "domains" / "mock"
    domain.mkdir(parents=True)
    tasks = [{"id": name, "user_scenario": {"instructions": f"Do {name}."}} for name in "xyz"]
    (domain / "tasks.json").write_text(json.dumps(tasks))
    (domain / "db.json").write_text(json.dumps({"tasks": {}, "users": {}}))
    (domain / "policy.md").write_text("Be kind.")
    (domain / "notes.md").write_text("Not used.")
    return tmp_path / "checkout"


@pytest.fixture
def data(data_dir, capsys):
    """Runs `greenroom data`; returns exit code, output and complaint."""

    def run(*arguments):
        code = main(["data", *map(str, arguments)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


@pytest.fixture
def domains(data_dir, capsys):
    """The rows of `greenroom list domains` by domain, and what was said beside."""

    def run():
        assert main(["list", "domains", "--json"]) == 0
        shown = capsys.readouterr()
        return {row["domain"]: row for row in json.loads(shown.out)}, shown.err

    return run


def test_what_was_fetched_is_played_until_it_is_removed(data, domains, checkout):
    before, said = domains()
    assert before["mock"]["source"] == "inspect-evals"
    assert "greenroom data fetch tau2 brings τ²-bench" in said
    code, out, _ = data("fetch", "tau2", "--from", checkout, "--commit", COMMIT)
    assert code == 0
    assert "commit 0123456: 3 files of 0.0 MB are there, and are played from now on" in out
    assert "not checked against a known digest" in out
    now, said = domains()
    assert said == ""
    assert [name for name in now if now[name]["benchmark"] == "tau2"] == ["mock"]
    mock = now["mock"]
    assert (mock["source"], mock["tasks"]) == ("official", "3 tasks")
    assert mock["revision"].startswith("sha256:")
    assert mock["revision"].endswith(" (said to be tau2-bench 0123456)")
    assert data("remove", "tau2")[0] == 0
    assert domains()[0]["mock"]["source"] == "inspect-evals"


def test_a_variable_that_names_a_folder_goes_before_what_was_fetched(
    data, domains, checkout, monkeypatch
):
    data("fetch", "tau2", "--from", checkout, "--commit", COMMIT)
    fetched = domains()[0]["mock"]["revision"]
    monkeypatch.setenv("TAU2_DATA_DIR", str(checkout / "data"))
    named = domains()[0]["mock"]["revision"]
    assert fetched == f"{named} (said to be tau2-bench 0123456)"
    assert "TAU2_DATA_DIR is set, and goes before" in data("list")[2]


def test_what_was_fetched_is_listed_chosen_and_removed_by_its_commit(data, domains, checkout):
    for commit in (COMMIT, OTHER_COMMIT):
        data("fetch", "tau2", "--from", checkout, "--commit", commit)
    _, out, _ = data("list")
    assert [line.split()[:3] for line in out.splitlines()] == [
        ["tau2", COMMIT, "not"],
        ["tau2", OTHER_COMMIT, "played"],
    ]
    assert data("use", "tau2", COMMIT[:8])[0] == 0
    assert "tau2-bench 0123456" in domains()[0]["mock"]["revision"]
    assert data("remove", "tau2", COMMIT[:8])[1].endswith("greenroom data use tau2 COMMIT\n")
    rows = json.loads(data("list", "--json")[1])
    assert [(row["commit"], row["played"]) for row in rows] == [(OTHER_COMMIT, "not played")]
    assert domains()[0]["mock"]["source"] == "inspect-evals"


def test_without_anything_fetched_the_list_says_what_brings_it(data):
    code, out, err = data("list")
    assert (code, out) == (0, "")
    assert "greenroom data fetch tau2" in err


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["fetch", "mock"], "for a benchmark 'mock'"),
        (["fetch", "tau3"], "did you mean 'tau2'"),
        (["fetch", "tau2", "--commit", "a2c0247"], "all 40 digits"),
        (["fetch", "tau2", "--from", "gone"], "no file or folder 'gone'"),
        (["fetch", "tau2", "--from", "http://example.org/a.zip"], "not encrypted"),
        (["use", "tau2", "1234567"], "there is none"),
        (["remove", "tau2", "1234567"], "there is none"),
    ],
)
def test_a_wrong_use_is_exit_2(data, arguments, why):
    code, _, err = data(*arguments)
    assert code == 2, err
    assert why in err


def test_files_of_another_revision_are_exit_3_and_name_the_way_out(data, checkout, data_dir):
    code, _, err = data("fetch", "tau2", "--from", checkout)
    assert code == 3
    assert "does not have the files of commit a2c0247" in err
    assert "--commit" in err
    assert not (data_dir / "tau2" / "default").exists()


def test_tasks_that_cannot_be_read_are_exit_3(data, checkout):
    (checkout / "data" / "tau2" / "domains" / "mock" / "tasks.json").write_text("<html>")
    code, _, err = data("fetch", "tau2", "--from", checkout, "--commit", COMMIT)
    assert code == 3
    assert "cannot be played" in err


def test_data_that_were_damaged_since_stop_a_run_and_leave_the_other_domains(
    data, domains, checkout, data_dir, capsys
):
    data("fetch", "tau2", "--from", checkout, "--commit", COMMIT)
    (data_dir / "tau2" / COMMIT / "origin.json").unlink()
    now, said = domains()
    assert "mock" not in now
    assert "coordination" in now
    assert f"greenroom data fetch tau2 --commit {COMMIT}" in said
    code = main(["run", "Evaluate builtin:null on one mock task", "--dry-run"])
    assert code == 2
    assert "are damaged" in capsys.readouterr().err
    assert "damaged" in data("list")[1]


def test_an_archive_over_http_is_fetched_by_the_installed_program(
    greenroom, checkout, tmp_path, data_dir
):
    path = tmp_path / "archive.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.add(checkout, "tau2-bench-0123456")
    with serve_file(ServedFile(path.read_bytes())) as base:
        place = ["--from", f"{base}/archive.tar.gz", "--commit", COMMIT]
        result = greenroom("data", "fetch", "tau2", *place, python=INSTALLED)
    assert result.returncode == 0, result.stderr
    assert f"fetching {base}/archive.tar.gz" in result.stderr
    assert "\r" not in result.stderr
    assert (data_dir / "tau2" / COMMIT / "tau2" / "domains" / "mock" / "tasks.json").is_file()


@pytest.mark.usefixtures("quick_start")
def test_without_a_network_the_default_is_exit_3_with_what_to_do(
    greenroom, assert_complains, data_dir
):
    nowhere = {"https_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    result = greenroom("data", "fetch", "tau2", **nowhere)
    assert_complains(result, 3, f"{KNOWN}.tar.gz cannot be fetched", "--from", "TAU2_DATA_DIR")


@pytest.mark.usefixtures("quick_start")
def test_an_interrupted_fetch_is_exit_130_and_changes_nothing(command, data_dir):
    served = ServedFile(b"\x1f\x8b" + bytes(1000), stalls=True)
    with serve_file(served) as base:
        process = subprocess.Popen(
            command("data", "fetch", "tau2", "--from", f"{base}/a.tar.gz"),
            stderr=subprocess.PIPE,
            env=os.environ,
        )
        with process:
            while not served.asked:
                assert process.poll() is None
            process.send_signal(2)
            said = process.stderr.read().decode()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert not (data_dir / "tau2" / "default").exists()
