"""SIGTERM while a program loads, which the first process of a container would ignore."""

import signal
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("arguments", "imported", "word"),
    [
        (["adk_agent", "--port", "0"], "pydantic", "greenroom: ended by SIGTERM"),
        (["adk_agent", "run", "--dry-run", "x"], "pydantic", "greenroom: ended by SIGTERM"),
        (["adk_agent.cli.main", "list", "runs"], "pydantic", "greenroom: ended by SIGTERM"),
        (["purple_agent", "null", "--port", "0"], "uvicorn", "ended by SIGTERM before it served"),
    ],
    ids=["service", "service-runs", "command", "purple"],
)
def test_a_program_that_loads_ends_with_a_word(arguments, imported, word):
    command = [sys.executable, "-X", "importtime", "-m", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if line.split("|")[-1].strip() == imported:
                break
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
    assert process.returncode == 143
    assert word in said
    assert "Traceback" not in said
