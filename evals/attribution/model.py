"""Attribution: candidates for the decisive step, the most likely one first, with their reasons."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

Cue = Literal[
    "no_answer",
    "declined",
    "unsure",
    "contradicts",
    "miscalculated",
    "underived",
    "lost_value",
    "astray",
    "unfounded",
    "unasked",
    "repairs",
    "wrong_value",
    "departure",
    "first_result",
    "new_values",
    "plan_gap",
    "invented",
    "failing_run",
    "rare_worker",
    "last_result",
    "llm",
]
"""The kind of a sign; `evals.attribution.cues` says what each looks for. `llm`: a model named it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Sign(_Part):
    """One reason to hold a step responsible."""

    cue: Cue
    weight: float
    """Added to the score of the step: the weight of the cue times the strength of this sign."""
    reason: str
    """A sentence with the figures."""
    excerpt: str | None = None
    """The words of the step that show it; None where it is their absence that does."""


class Candidate(_Part):
    """One agent at one step, and why that may have decided the outcome."""

    agent: str
    step_id: str
    score: float
    """The sum of the signs. Comparable within one attribution only; it is no probability."""
    signs: tuple[Sign, ...]


class Attribution(_Part):
    """The ranking of one trial. Without candidates, `reason` says why nobody can be named."""

    candidates: tuple[Candidate, ...] = ()
    """The most likely first, at most `MOST_CANDIDATES`."""
    reason: str | None = None
    """Why no step can be named; None where one is. With weak candidates it stands beside them."""
    weak: bool = False
    """True if no sign of the first candidate shows a fault: it is only where to look first."""
    confirmed: bool | None = None
    """A model's answer to whether the outcome would have been right had the first step been right;
    None where no model was asked about it."""
    produced_by: str = "rules"

    @property
    def agent(self) -> str | None:
        """Return the agent that decided the outcome; None if not attributable."""
        return self.candidates[0].agent if self.candidates and not self.weak else None

    def summary(self) -> str:
        """Return the first candidate in words, or why nobody can be named and where to look."""
        return " ".join(self.sentences()[: 2 if self.weak else 1])

    def sentences(self) -> tuple[str, ...]:
        """Return the candidates in words, the most likely first, or why there is none."""
        if not self.candidates:
            return (f"Not attributable: {self.reason}.",)
        weak = (f"Not attributable: {self.reason}. Look first at:",) if self.weak else ()
        return weak + tuple(
            f"{each.agent} at {each.step_id} (score {each.score:g}): {each.signs[0].reason}"
            for each in self.candidates
        )


MOST_CANDIDATES = 5
