"""The command in an empty folder without write permission."""

from pathlib import Path

import pytest

from adk_agent.cli.main import main

NO_RUN = "there is no run in 'results' yet; start one: greenroom run"
REFUSED = "runs cannot be kept in 'results"
RUN = ["run", "Evaluate the bundled null agent on two coordination exercises", "--offline"]


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (RUN, 3, REFUSED),
        (["serve", "--port", "0"], 3, REFUSED),
        (["list", "runs"], 0, NO_RUN),
        (["results"], 2, NO_RUN),
    ],
)
def test_it_says_in_one_line_what_cannot_be_written_and_where_else_to(
    read_only, monkeypatch, capsys, command, code, said
):
    folder, forbid = read_only
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GREENROOM_RESULTS_DIR", raising=False)
    forbid()
    assert main(command) == code
    complaint = capsys.readouterr().err
    assert said in complaint
    assert "Traceback" not in complaint
    if code == 3:
        assert "--results-dir or GREENROOM_RESULTS_DIR" in complaint
    assert list(Path().iterdir()) == []
