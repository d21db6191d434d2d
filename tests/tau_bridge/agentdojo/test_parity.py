"""Verdicts equal those of Inspect's own evaluation; `scripts/agentdojo_parity.py` plays more."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_verdicts_on_changed_solutions_are_those_of_inspect(tmp_path):
    # A process of its own: Inspect sets up logging and event loops for itself.
    script = ROOT / "scripts" / "agentdojo_parity.py"
    played = subprocess.run(
        [sys.executable, str(script), "--traces", "25", "--seed", "7", "--log-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 0, played.stdout + played.stderr
    assert "compared 25" in played.stdout
