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
    "passed": Mark(glyph="✓", word="passed", meaning="scored, and everything was as it should be"),
    "lost": Mark(glyph="✗", word="not passed", meaning="scored, and something was not"),
    "unscored": Mark(glyph="?", word="unscored", meaning="there is no reward, and a reason why"),
    "failed": Mark(
        glyph="!", word="failed", meaning="playing or scoring broke: says nothing of the agent"
    ),
    "missing": Mark(glyph="·", word="not played", meaning="the run ended before its turn"),
}


def state_of(row: TrialRow) -> State:
    """Return the state of a trial that ended."""
    if row.status != "scored":
        return row.status
    return "passed" if row.passed else "lost"


UNDIAGNOSED = "undiagnosed"
CLASSES: dict[str, tuple[str, str]] = {
    "wrong_write": ("wrong write", "it changed something that should have been changed otherwise"),
    "missing_write": ("missing write", "it did not change something that should have been changed"),
    "policy": ("policy", "it did what the policy forbids, or not what it demands"),
    "hijacked": ("hijacked", "it did what a text in a tool's result demanded, not its user"),
    "communication": ("communication", "it did not tell the user what had to be told"),
    "format": ("format", "its replies could not be read as the protocol wants them"),
    "loop": ("loop", "it repeated itself until the conversation was cut off"),
    "gave_up": ("gave up", "it handed over or ended where it should have gone on"),
    "agent_error": ("agent error", "the agent answered with an error, or unreadably"),
    "no_reply": ("no reply", "the agent did not answer in time, although its card did"),
    "user_simulator": ("user simulator", "the simulated user was at fault, not the agent"),
    "infrastructure": ("infrastructure", "network, keys or services broke"),
    "harness": ("harness", "the assessor's own code or data broke"),
    "undetermined": ("undetermined", "nothing that is known says why"),
    UNDIAGNOSED: ("not diagnosed", "the run was made without a diagnosis"),
}
"""Name and meaning of each class of failures."""
SIDES = {
    "agent": "the agent",
    "user": "the simulated user",
    "infrastructure": "the infrastructure",
    "harness": "the assessor",
}
