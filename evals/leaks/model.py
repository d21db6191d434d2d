"""Leak: something that belongs to one conversation and came out in another."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

ValueKind = Literal["name", "code", "email", "amount", "number", "phrase", "context_id"]
"""The kind of a value. `phrase`: the beginning of a sentence that a user said. `context_id`: the agent
itself gave it to both conversations."""
Way = Literal[
    "one after another",
    "at once",
    "earlier conversation",
    "by name",
    "task id",
    "context id",
    "trials",
]
"""The relation of the conversation in which it came out to the other one. `trials`: it is a trial, told in
another trial or in a probe."""


class Leak(BaseModel):
    """Evidence that an agent does not keep two conversations apart."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    way: Way
    kind: ValueKind
    value: str
    """As it stands where it came from."""
    said_in: str
    """The conversation that it belongs to: `probe 3`, or a trial."""
    said: str
    """The excerpt in which that conversation had it."""
    came_out_in: str
    came_out: str
    """The excerpt of the agent's reply."""

    def sentence(self) -> str:
        """Return the finding in a sentence, with both excerpts."""
        if self.kind == "context_id":
            return (
                f"{self.said_in} and {self.came_out_in} were given the same contextId "
                f"{self.value!r}, so that the agent cannot tell them apart ({self.way})"
            )
        return (
            f"{self.came_out_in} was told {self.value!r} of {self.said_in} ({self.way}). "
            f"It said: {self.came_out!r}. It was given: {self.said!r}."
        )
