"""A process that is killed loses nothing: real SIGKILLs, wherever they come."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[3] / "performance" / "durability.py"


@pytest.mark.slow
def test_runs_that_are_killed_anywhere_end_as_if_they_never_had_been():
    arguments = ("kills", "--trials", "3", "--random", "4", "--operations", "9")
    done = subprocess.run(
        [sys.executable, "-P", BENCHMARK, *arguments],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "random times: 4 kills" in done.stdout
    assert done.stdout.count("0 problems") == 2
