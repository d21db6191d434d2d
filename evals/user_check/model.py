"""UserFault and UserCheck: the faults that the simulated user of one trial was found to have."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

FaultKind = Literal["revealed", "invented", "condition", "left_early", "agent_work"]
"""`revealed`: it recited its instructions, or showed that it is played. `invented`: it gave a value
that neither its instructions nor the agent gave. `condition`: it broke an order of its instructions.
`left_early`: it ended the conversation with a question open. `agent_work`: it spoke as the agent."""

Certainty = Literal["proven", "possible"]
"""`possible`: a reader has to decide. Such faults are shown, and count for nothing."""

MOST_FAULTS = 10
"""Faults that are kept of one trial, the proven ones first."""


class UserFault(BaseModel):
    """One fault, with the words that show it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: FaultKind
    certainty: Certainty
    reason: str
    """One sentence without a full stop."""
    quote: str
    """The user's words, on one line, cut where they are long."""
    message: int
    """The place of the message in the conversation, from 0."""
    produced_by: str = "rules"
    """The finder: `rules`, or `llm:` and a model's name; a model's faults are possible ones."""


class UserCheck(BaseModel):
    """The result of checking the user of one trial."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    faults: tuple[UserFault, ...] = ()
    problem: str | None = None
    """Why a model that was asked as well gave no answer; the rules' faults stand."""

    @property
    def proven(self) -> tuple[UserFault, ...]:
        """Return the faults that count."""
        return tuple(each for each in self.faults if each.certainty == "proven")
