"""The identity of a checkout: its package and data, and their digests. Imports nothing of it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .link import Told

PROTOCOL = 1
FOLDERS = {"telecom-workflow": "telecom"}
"""The folders of domains that are not named after them."""
NEEDED = ("runner/build.py", "orchestrator/orchestrator.py", "evaluator/evaluator.py")
"""The files of a checkout that can play."""
_FOR_VOICE = frozenset({"audio_difficulty.json", "tasks_voice.json", "task_issues"})
"""Files and folders of a domain that text conversations do not read."""
_GUIDELINES = ("simulation_guidelines.md", "simulation_guidelines_tools.md")


class Unsupported(Told):
    """This checkout cannot play."""


def identity(data_dir: str | None) -> dict[str, Any]:
    """Return where and what the checkout is. Imports nothing of it.

    Raises:
        Unsupported: There is none, or it is too old.
    """
    spec = importlib.util.find_spec("tau2")
    if spec is None or not spec.submodule_search_locations:
        raise Unsupported("this interpreter has no package tau2: install the checkout into it")
    package = Path(next(iter(spec.submodule_search_locations)))
    claimed = _claimed_version()
    missing = [name for name in NEEDED if not (package / name).is_file()]
    if missing:
        raise Unsupported(
            f"{str(package)!r} (which calls itself {claimed}) has no {missing[0]}: it is not "
            "tau2-bench, or older than 1.0.0, the first release with the runner that is needed"
        )
    data = Path(data_dir or os.environ.get("TAU2_DATA_DIR") or package.parents[1] / "data")
    domains = data / "tau2" / "domains"
    if not domains.is_dir():
        raise Unsupported(
            f"{str(data)!r} holds no tau2/domains: set TAU2_DATA_DIR to the checkout's folder data"
        )
    folders = {each.name: each.name for each in domains.iterdir() if each.is_dir()}
    folders |= {name: folder for name, folder in FOLDERS.items() if folder in folders}
    return {
        "protocol": PROTOCOL,
        "tau2": claimed,
        "python": platform.python_version(),
        "package": str(package),
        "data_dir": str(data),
        "code": code_digest(package),
        "data": {name: data_digest(data, folder) for name, folder in sorted(folders.items())},
    }


def _claimed_version() -> str:
    try:
        return importlib.metadata.version("tau2")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def code_digest(package: Path) -> str:
    """Return the digest of all Python files of a package."""
    return _digest(package, package.rglob("*.py"))


def data_digest(data_dir: Path, folder: str) -> str:
    """Return the digest of a domain's files and of the user's guidelines."""
    root = data_dir / "tau2"
    domain = root / "domains" / folder
    used = [
        path
        for path in domain.rglob("*")
        if path.is_file() and _FOR_VOICE.isdisjoint(path.relative_to(domain).parts)
    ]
    guidelines = [root / "user_simulator" / name for name in _GUIDELINES]
    return _digest(root, [*used, *(path for path in guidelines if path.is_file())])


def _digest(root: Path, paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        content = path.read_bytes()
        # With the length, so that no two sets of files look alike.
        head = f"{path.relative_to(root).as_posix()}\0{len(content)}\0"
        digest.update(head.encode() + content)
    return f"sha256:{digest.hexdigest()[:16]}"
