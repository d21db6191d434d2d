"""Progress: what a running evaluation says of itself, for terminals, events and A2A updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict

Stage = Literal["preparing", "playing", "finished"]


class Progress(BaseModel):
    """Where an evaluation stands. Counts are of trials."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stage: Stage
    run_id: str
    message: str
    done: int = 0
    total: int = 0
    passed: int = 0
    scored: int = 0
    unscored: int = 0
    failed: int = 0
    trial: str | None = None
    """The trial that just ended, as participant, domain, task and number."""
    outcome: str | None = None
    """What it came to: `passed`, `not passed`, `unscored`, `failed`."""


OnProgress = Callable[[Progress], None]
"""Called on the event loop; must not block."""


def silent(progress: Progress) -> None:
    """Say nothing."""
