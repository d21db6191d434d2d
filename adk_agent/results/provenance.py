"""Provenance: the versions, data and models behind results, which must match to compare them."""

from __future__ import annotations

from collections.abc import Mapping

from adk_agent.results.summary import DataOrigin
from tau_bridge.benchmark import content_of

MODEL = "model of the "
"""Prefix of a language model's entry."""


def provenance(
    versions: Mapping[str, str],
    revisions: Mapping[str, str],
    models: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return all entries under names fit for messages."""
    return {
        **{f"version of {name}": version for name, version in versions.items()},
        **{f"data of {name}": revision for name, revision in revisions.items()},
        **{f"{MODEL}{part}": label for part, label in (models or {}).items()},
    }


def revisions_of(origins: Mapping[str, DataOrigin]) -> dict[str, str]:
    """Return the source and revision of each domain's data."""
    return {
        domain: f"{origin.source}, {content_of(origin.revision)}"
        for domain, origin in origins.items()
    }


def differences(
    one: Mapping[str, object], other: Mapping[str, object], *, when: tuple[str, str]
) -> list[str]:
    """List the entries in which two mappings differ, in words; `when` names the two."""
    return [
        f"{name}: {one.get(name)} {when[0]}, {other.get(name)} {when[1]}"
        for name in sorted(one.keys() | other.keys())
        if one.get(name) != other.get(name)
    ]
