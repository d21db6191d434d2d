"""Verdicts of Inspect's own `eval`, and ours, for the same calls and words."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tau_bridge.threats.agents import AGENTS

PROGRAM = Path(__file__).with_name("inspect_eval.py")


def verdicts_of_inspect(scripts):
    done = subprocess.run(
        [sys.executable, str(PROGRAM)],
        input=json.dumps(scripts),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
async def test_verdicts_are_those_of_inspect_on_all_cases_for_every_agent(cases, play):
    scripts, ours = {}, {}
    for agent in AGENTS:
        of_agent = scripts.setdefault(agent.__name__, {})
        for case in cases.values():
            of_agent.setdefault(case.scenario, []).append(agent(case))
        ours[agent.__name__] = {
            name: (await play(name, *agent(case))).verdicts for name, case in cases.items()
        }
    assert {len(found) for found in ours.values()} == {24}
    assert ours == verdicts_of_inspect(scripts)
