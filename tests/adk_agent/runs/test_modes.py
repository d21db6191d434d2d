"""A run is its owner's alone: conversations are in it."""

import stat

from adk_agent.cli.main import main

RUN = ["run", "--agent", "null", "--domain", "mock", "--num-tasks", "1", "--offline"]


def test_nobody_else_can_read_a_run(tmp_path):
    results = tmp_path / "results"
    assert main([*RUN, "--results-dir", str(results)]) == 0
    [run] = results.iterdir()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in run.iterdir()}
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    names = {"manifest.json", "trials.jsonl", "report.json", "report.md", "status.json"}
    assert {name: modes[name] for name in names} == dict.fromkeys(names, 0o600)
