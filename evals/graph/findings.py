"""Thresholds, and what a finding is."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Where findings and labels begin. Printed with every result."""

    bottleneck_betweenness: float = 0.5
    """Above: bottleneck (on the undirected projection, normalised)."""
    over_centralized_share: float = 0.7
    """Above: one agent touches too many of the calls."""
    healthy_density: float = 0.3
    """Above: the calls are spread."""
    hub_centralization: float = 0.7
    hub_members: int = 4
    balanced_gini: float = 0.2
    balanced_centralization: float = 0.2
    ping_pong_share: float = 0.5
    ping_pong_calls: int = 4
    duplicate_share: float = 0.1


class Finding(BaseModel):
    """Something about the team that somebody should look at, with the steps that show it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """In snake_case, for example `bottleneck`."""
    statement: str
    """One sentence with agents and figures."""
    agents: tuple[str, ...] = ()
    value: float | None = None
    threshold: float | None = None
    step_ids: tuple[str, ...] = ()
    """The first steps that show it; `steps_in_all` says how many there are."""
    steps_in_all: int = 0
    details: dict[str, float | str] = {}
