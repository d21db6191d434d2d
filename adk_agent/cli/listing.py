"""`greenroom list`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from typing import Any

from adk_agent.cli.edge import OK
from adk_agent.errors import GreenroomError, RequestError
from adk_agent.settings import Settings
from tau_bridge.tau2.data import DataSource, open_source


def execute(parsed: argparse.Namespace) -> int:
    """Print what there is."""
    if parsed.what == "agents":
        rows = _agents()
    else:
        source = open_source(Settings.load().tau2_data_dir)
        rows = _domains(source) if parsed.what == "domains" else _tasks(source, parsed)
    if parsed.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        for row in rows:
            print("  ".join(str(value) for value in row.values()))
    return OK


def _domains(source: DataSource) -> list[dict[str, Any]]:
    return [
        {
            "domain": domain,
            "tasks": f"{len(source.task_ids(domain))} tasks",
            "splits": ", ".join(source.splits(domain)),
            "source": source.name,
            "revision": source.revision(domain),
        }
        for domain in source.domains()
    ]


def _tasks(source: DataSource, parsed: argparse.Namespace) -> list[dict[str, Any]]:
    if parsed.domain is None:
        known = ", ".join(source.domains())
        raise RequestError(f"list tasks needs --domain; there are: {known}")
    rows = []
    for task_id in source.task_ids(parsed.domain, parsed.split):
        criteria = source.task(parsed.domain, task_id).evaluation_criteria
        basis = ", ".join(criteria.reward_basis) if criteria is not None else "none"
        rows.append({"task": task_id, "basis": f"[{basis}]"})
    return rows


def _agents() -> list[dict[str, Any]]:
    listed = subprocess.run(
        [sys.executable, "-P", "-m", "purple_agent", "--list"],
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        raise GreenroomError(f"cannot list the bundled agents: {listed.stderr.strip()[-300:]}")
    rows = []
    for line in listed.stdout.splitlines():
        name, _, about = line.strip().partition(" ")
        rows.append({"agent": f"builtin:{name}", "about": about.strip()})
    return rows
