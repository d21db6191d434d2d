"""AgentProgress: how far one agent of a run is, and what was spent on it so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict


class AgentProgress(BaseModel):
    """One agent's trials so far, over all domains."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    participant: str
    done: int
    total: int
    """The trials that are planned."""
    passed: int
    total_tokens: float | None = None
    """Tokens of the assessor's own models; None if unknown, as for the following."""
    cost: float | None = None
    """In US dollars."""
    agent_tokens: float | None = None
    """As the agent reports it."""
    agent_cost: float | None = None


@dataclass(frozen=True, kw_only=True)
class Spent:
    """The tokens and the cost of one trial; None where unknown."""

    total_tokens: int | None = None
    cost: float | None = None
    agent_tokens: int | None = None
    agent_cost: float | None = None


@dataclass
class AgentCounts:
    """Counts the trials of one agent as they end.

    Args:
        participant: Its address.
        total: The trials that are planned.
    """

    participant: str
    total: int = 0
    done: int = 0
    passed: int = 0
    # Running sums: adding everything up again for every trial would be quadratic.
    _sums: Counter[str] = field(default_factory=Counter)
    _known: Counter[str] = field(default_factory=Counter)

    def count(self, spent: Spent, *, passed: bool, by: int) -> None:
        """Add a trial, or take one away where `by` is -1."""
        self.done += by
        self.passed += by * passed
        for name, value in vars(spent).items():
            if value is not None:
                self._known[name] += by
                self._sums[name] += by * value

    @property
    def progress(self) -> AgentProgress:
        """The progress so far."""
        return AgentProgress(
            participant=self.participant,
            done=self.done,
            total=max(self.total, self.done),
            passed=self.passed,
            **{name: self._sums[name] if known else None for name, known in self._known.items()},
        )
