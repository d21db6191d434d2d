"""Writes: which tools of a task change its world, as far as that is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from tau_bridge.business.scenarios import scenario
from tau_bridge.business.tools import Find, Get, GetApproval
from tau_bridge.errors import BridgeError
from tau_bridge.tau2.tool_names import TOOL_NAMES

BUSINESS = "business"


def writes_of(domain: str, task_id: str) -> Callable[[str], bool]:
    """Tells of a tool's name whether a call may change the world; of an unknown one, that not."""
    if domain == BUSINESS:
        return _scenario_writes(task_id).__contains__
    names = TOOL_NAMES.get(domain)
    return names.changes_state if names is not None else _never


@lru_cache(maxsize=1024)
def _scenario_writes(task_id: str) -> frozenset[str]:
    try:
        tools = scenario(task_id).tools
    except BridgeError:
        return frozenset()
    return frozenset(
        tool.name for tool in tools if not isinstance(tool.effect, Get | Find | GetApproval)
    )


def _never(_: str) -> bool:
    return False
