"""RunView: what an exporter of a benchmark may see of a run.

Protocols alone: the program that keeps runs has classes of its own, which fit them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from evals.diagnosis import Diagnosis
    from evals.outcome import Component, Fault
    from evals.trace import Trace


class ParticipantView(Protocol):
    """An agent that was evaluated."""

    @property
    def address(self) -> str:
        """Where it answers, or `builtin:` and its name."""


PartView = tuple[ParticipantView, str]
"""A participant, and one domain that it played."""


class OriginView(Protocol):
    """The data that a domain was played with."""

    @property
    def source(self) -> str:
        """Where they come from."""

    @property
    def revision(self) -> str:
        """A hash of their content."""


class RowView(Protocol):
    """What one trial came to."""

    @property
    def domain(self) -> str:
        """Whose task was played."""

    @property
    def task_id(self) -> str:
        """The task."""

    @property
    def trial(self) -> int:
        """Its number among those of the task, from 0."""

    @property
    def seed(self) -> int:
        """Its seed."""

    @property
    def status(self) -> Literal["scored", "unscored", "failed"]:
        """Whether it has a reward, has none, or broke."""

    @property
    def reward(self) -> float | None:
        """None unless it is scored."""

    @property
    def reward_breakdown(self) -> Mapping[str, float | None]:
        """The value of each component, None where it has none."""

    @property
    def components(self) -> Sequence[Component]:
        """The components with what they looked at."""

    @property
    def basis(self) -> Sequence[str]:
        """The components that count."""

    @property
    def reason(self) -> str | None:
        """Why there is no reward, or how the agent ended it."""

    @property
    def fault(self) -> Fault | None:
        """On which side it broke; None where it was played to its end."""

    @property
    def produced_by(self) -> str | None:
        """Who made the reward."""

    @property
    def termination(self) -> str:
        """How the conversation ended."""

    @property
    def user(self) -> str:
        """Who played the user."""

    @property
    def turns(self) -> int:
        """Replies of the agent."""

    @property
    def tool_calls(self) -> int:
        """Calls of the agent that were run."""

    @property
    def duration_ms(self) -> float:
        """How long it took."""

    @property
    def trace_id(self) -> str:
        """Unique among all trials."""

    @property
    def diagnosis(self) -> Diagnosis | None:
        """Why it did not pass."""


class RecordView(Protocol):
    """One trial in full."""

    @property
    def row(self) -> RowView:
        """What it came to."""

    @property
    def trace(self) -> Trace:
        """Every call."""

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The conversation, as the benchmark's `Played.messages` had it."""


class RunView(Protocol):
    """A run, finished or not, without secrets.

    The benchmark whose exporter is asked is opened with the run's options.
    """

    @property
    def run_id(self) -> str:
        """The run's id."""

    @property
    def created_at(self) -> datetime:
        """When it was begun."""

    @property
    def versions(self) -> Mapping[str, str]:
        """The versions that played it, by package."""

    @property
    def origins(self) -> Mapping[str, OriginView]:
        """The data, by domain."""

    @property
    def num_trials(self) -> int:
        """How often each task was to be played."""

    @property
    def max_steps(self) -> int:
        """The bound of a conversation."""

    @property
    def seed(self) -> int:
        """From which the trials' seeds follow."""

    @property
    def user_llm_args(self) -> Mapping[str, Any]:
        """How the language model that played users was called."""

    def parts(self) -> Sequence[PartView]:
        """Every participant and domain of which a trial ended, in the plan's order."""

    def rows(self, part: PartView) -> Sequence[RowView]:
        """A part's trials, in the plan's order."""

    def records(self, part: PartView | None = None) -> Iterator[RecordView]:
        """The trials of a part, or all, in the order in which they ended."""
