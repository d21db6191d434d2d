"""Folders of τ²-bench task data in the official layout, with tasks of a test's own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tau_bridge.tau2.data import open_source


def write_domain(
    root: Path,
    domain: str,
    tasks: Sequence[Mapping[str, Any]],
    *,
    base: Sequence[str] | None = None,
) -> Path:
    """Write a domain with these tasks, and return what TAU2_DATA_DIR names then.

    Args:
        root: The folder of data.
        domain: The domain. `mock` gets the database of the installed data, others an empty one.
        tasks: Records of its task file.
        base: The ids of the base split; None: all.
    """
    folder = root / "tau2" / "domains" / domain
    folder.mkdir(parents=True)
    ids = [task["id"] for task in tasks]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    (folder / "split_tasks.json").write_text(
        json.dumps({"base": ids if base is None else list(base), "all": ids})
    )
    (folder / "policy.md").write_text(f"The policy of {domain}.")
    installed = open_source(None)
    if domain == "mock":
        (folder / "db.json").write_text(json.dumps(installed.database(domain)))
    else:
        (folder / "db.json").write_text("{}")
    return root
