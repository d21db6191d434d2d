"""The details of a submission, from the file that `--details` names."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from adk_agent.core.errors import RequestError


def read_details(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        RequestError: It cannot be read, or is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RequestError(f"--details: cannot read {str(path)!r}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RequestError(f"--details: {str(path)!r} is not a text file") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RequestError(f"--details: {str(path)!r} is not TOML: {error}") from error
