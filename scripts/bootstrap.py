"""Put a pinned uv into .tools/, for machines that have python3 but no uv.

Standard library only. `make` runs it where no uv is on PATH.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

UV_VERSION = "0.13.8"
MIN_PYTHON = (3, 11)
TOOLS = Path(__file__).resolve().parent.parent / ".tools"


class BootstrapError(Exception):
    """uv cannot be installed. The message says what to install first."""


def install_commands(python: str, tools: Path, *, has_venv: bool, has_pip: bool) -> list[list[str]]:
    """Return the commands that make `tools`/bin/uv.

    Args:
        python: The interpreter.
        tools: The folder, `.tools`.
        has_venv: Whether virtual environments with pip can be made (venv and ensurepip).
        has_pip: Whether the interpreter has pip itself.

    Raises:
        BootstrapError: there is neither.
    """
    wanted = f"uv=={UV_VERSION}"
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if has_venv:
        return [[python, "-m", "venv", str(tools)], [str(tools / "bin" / "python"), *pip, wanted]]
    if has_pip:
        return [[python, *pip, "--upgrade", "--target", str(tools), wanted]]
    raise BootstrapError(
        f"{python} has neither ensurepip nor pip, so uv cannot be installed. On Debian and Ubuntu: "
        "apt-get install python3-venv. Or install uv itself and put it on PATH."
    )


def check_python() -> None:
    """Refuse an interpreter that is too old.

    Raises:
        BootstrapError: naming its version.
    """
    if sys.version_info < MIN_PYTHON:
        found, needed = (
            ".".join(str(part) for part in version[:2])
            for version in (sys.version_info, MIN_PYTHON)
        )
        raise BootstrapError(
            f"{sys.executable} is Python {found}, but {needed} or later is needed. Install one "
            "(on Debian and Ubuntu: apt-get install python3 python3-venv) and name it, as in "
            "`make PYTHON=python3.12 run`; docs/installing.md lists other ways."
        )


def main(arguments: Sequence[str] = ()) -> int:
    """Install uv, or with `--check` look at the interpreter alone; the exit code."""
    try:
        check_python()
        if "--check" in arguments:
            return 0
        commands = install_commands(
            sys.executable,
            TOOLS,
            has_venv=all(importlib.util.find_spec(name) for name in ("venv", "ensurepip")),
            has_pip=importlib.util.find_spec("pip") is not None,
        )
        for command in commands:
            subprocess.run(command, check=True)
        (TOOLS / "bin" / "uv").touch()
    except BootstrapError as exc:
        print(f"bootstrap: {exc}", file=sys.stderr)
        return 1
    except (subprocess.CalledProcessError, OSError) as exc:
        print(f"bootstrap: uv {UV_VERSION} could not be installed: {exc}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
