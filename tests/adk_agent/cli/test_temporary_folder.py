"""A system without a folder for temporary files, as a container with a read-only root."""

import os
import tempfile

import pytest

from adk_agent.cli.main import main

RUN = ["run", "--agent", "null", "--domain", "mock", "--num-tasks", "1", "--offline"]


@pytest.fixture
def without_a_folder(monkeypatch, tmp_path):  # which pytest itself makes there
    def none():
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_get_default_tempdir", none)
    monkeypatch.setenv("TMPDIR", "/nowhere")  # which is put back


@pytest.mark.usefixtures("without_a_folder")
def test_temporary_files_are_kept_beside_the_runs(tmp_path, capsys):
    results = tmp_path / "results"
    assert main([*RUN, "--results-dir", str(results)]) == 0
    assert tempfile.gettempdir() == os.environ["TMPDIR"] == str(results / ".tmp")
    assert [path.name for path in results.iterdir() if path.name.startswith(".")] == [".tmp"]
    capsys.readouterr()
    assert main(["list", "runs", "--results-dir", str(results)]) == 0
    assert ".tmp" not in capsys.readouterr().out
