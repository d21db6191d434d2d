"""What a person sees who types into `adk run adk_agent`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.turns import TURNS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
AGENT = Path(__file__).parents[3] / "adk_agent"


def typed(folder, lines):
    """Type lines into `adk run`; returns what it printed."""
    inherited = {name: value for name, value in os.environ.items() if "LLM" not in name}
    settings = {"GREENROOM_OFFLINE": "true", "GREENROOM_RESULTS_DIR": str(folder / "results")}
    adk = Path(sys.executable).with_name("adk")
    done = subprocess.run(
        [adk, "run", "--in_memory", AGENT],
        input="\n".join([*lines, "exit", ""]),
        env={**inherited, **settings, "HOME": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_conversation_goes_from_a_greeting_to_a_comparison(tmp_path):
    printed = typed(tmp_path, [text for text, _ in TURNS])
    answers = printed.split("[user]: ")[1:-1]
    assert len(answers) == len(TURNS)
    for answer, (text, expected) in zip(answers, TURNS, strict=True):
        assert expected in answer, text
    assert "[1/4] builtin:" in answers[3]
    assert '"intent"' not in printed
