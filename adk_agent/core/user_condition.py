"""UserCondition: the language model that plays the simulated users of a run, and how it is called."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class UserCondition(BaseModel):
    """The condition under which users are simulated. Runs compare only where it is the same."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    """The model's name; `scripted` where rules play the user, or nobody has to."""
    arguments: dict[str, Any] = {}
    """The arguments that affect its answers, such as `temperature`."""
    seed: int | None = None
    """A seed that is the same in all trials; None: each trial has its own, as `user_seed` of a trial."""
