"""The installed versions that a result depends on."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

_NAMED_VERSIONS = "greenroom a2a-sdk google-adk inspect-evals litellm networkx numpy"


def versions() -> dict[str, str]:
    """Return the versions that a result depends on, by distribution name."""
    return dict(_installed())


@cache
def _installed() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _NAMED_VERSIONS.split():
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
