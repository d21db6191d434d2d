"""Blueprint: the parts of a domain's environments, whichever library supplies the toolkits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tau_bridge.tau2.schemas import ToolSource
from tau_bridge.tau2.tables import Database
from tau_bridge.tau2.tasks import Task


class Toolkit(Protocol):
    """Methods over one side's database: the tools, and helpers that task data name."""

    db: Any


@dataclass(kw_only=True)
class Sides:
    """The two toolkits of one environment, under the names that synchronisations use."""

    tools: Toolkit
    user_tools: Toolkit | None


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of a domain.

    `new_database` gives an independent state, as the data files have it, each time it is called.
    `sources` gives what the tools' schemas are made from.
    """

    toolkit: Callable[[Database], Toolkit]
    new_database: Callable[[], Database]
    sources: Callable[[], Mapping[str, ToolSource]]


@dataclass(frozen=True, kw_only=True)
class Blueprint:
    """Both sides, and the synchronisation of their states.

    `shares_database`: the user's toolkit works on the agent's database. `adapt` sets the toolkits
    for a task, before its initial state is.
    """

    agent: Side
    user: Side | None = None
    sync: Callable[[Sides], None] | None = None
    shares_database: bool = False
    adapt: Callable[[Sides, Task], None] | None = None
