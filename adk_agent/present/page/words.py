"""The page's names for states of trials and classes of failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from adk_agent.results.summary import TrialRow

State = Literal["passed", "lost", "unscored", "failed", "missing"]


@dataclass(frozen=True, kw_only=True)
class Mark:
    """The picture of a state: a letter and a word, so that nothing depends on a colour."""

    glyph: str
    word: str
    meaning: str


MARKS: dict[State, Mark] = {
    "passed": Mark(glyph="✓", word="passed", meaning="scored: every check was met"),
    "lost": Mark(glyph="✗", word="not passed", meaning="scored: some check was not met"),
    "unscored": Mark(
        glyph="?", word="unscored", meaning="no reward could be computed; the reason is given"
    ),
    "failed": Mark(
        glyph="!",
        word="failed",
        meaning="playing or scoring broke; this says nothing about the agent",
    ),
    "missing": Mark(glyph="·", word="not played", meaning="the run ended before it"),
}


def state_of(row: TrialRow) -> State:
    """Return the state of a trial that ended."""
    if row.status != "scored":
        return row.status
    return "passed" if row.passed else "lost"


UNDIAGNOSED = "undiagnosed"
CLASSES: dict[str, tuple[str, str]] = {
    "wrong_write": ("wrong write", "it made a change that was not asked for, or made it wrongly"),
    "missing_write": ("missing write", "it left out a change that was due"),
    "policy": ("policy", "it broke the policy"),
    "teamwork": ("teamwork", "its members did not ask each other as the task demands"),
    "hijacked": ("hijacked", "it followed an instruction in a tool's result, not its user's"),
    "communication": ("communication", "it did not tell the user what had to be told"),
    "format": ("format", "its replies could not be read as the protocol requires"),
    "loop": ("loop", "it repeated itself until the conversation was cut off"),
    "gave_up": ("gave up", "it gave up before the work was done"),
    "agent_error": ("agent error", "it answered with an error, or unreadably"),
    "no_reply": ("no reply", "it did not answer in time, although its card did"),
    "user_simulator": ("user simulator", "the simulated user was at fault, not the agent"),
    "infrastructure": ("infrastructure", "network, keys or services broke"),
    "harness": ("harness", "the assessor's own code or data broke"),
    "undetermined": ("undetermined", "the evidence does not say why"),
    UNDIAGNOSED: ("not diagnosed", "the run was made without a diagnosis"),
}
"""Name and meaning of each class of failures."""
SIDES = {
    "agent": "the agent",
    "user": "the simulated user",
    "infrastructure": "the infrastructure",
    "harness": "the assessor",
}
