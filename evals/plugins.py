"""Plugins: objects that other packages offer by entry points."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, Protocol, TypeVar


class EntryPoint(Protocol):
    """The used part of an `importlib.metadata.EntryPoint`."""

    @property
    def name(self) -> str:
        """Return the name that its distribution gave it."""

    def load(self) -> Any:
        """Return the object that it names."""


E = TypeVar("E", bound=EntryPoint)
P = TypeVar("P")


def load_plugins(
    kind: str,
    points: Iterable[E],
    load: Callable[[E], P],
    *,
    taken: Collection[str] | None = None,
) -> tuple[tuple[P, ...], tuple[str, ...]]:
    """Return the plugins that can be used, and a warning for each that is left out.

    Args:
        kind: The word for such a plugin in warnings.
        points: Entry points, loaded in the order of their names.
        load: Loads one and checks it; may raise anything.
        taken: Names that no plugin can have, nor can two have the same one; None to allow it.
    """
    found: list[P] = []
    names = set(taken or ())
    warnings = []
    for point in sorted(points, key=lambda each: each.name):
        try:
            plugin = load(point)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything while it is loaded
            warnings.append(left_out(kind, point.name, f"{type(error).__name__}: {error}"))
            continue
        name = getattr(plugin, "name", point.name)
        if taken is not None and name in names:
            warnings.append(left_out(kind, point.name, f"the name {name!r} is taken"))
            continue
        names.add(name)
        found.append(plugin)
    return tuple(found), tuple(warnings)


def left_out(kind: str, name: str, reason: str) -> str:
    """Return the warning that a plugin is not used."""
    return f"{kind} {name!r} is left out: {reason}"
