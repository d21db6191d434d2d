"""EvaluationRequest: what was asked for. EvaluationPlan: exactly what will be played.

A request names things (`domain: shop, num_tasks: 5`); `adk_agent.requests.planning.resolve` checks it
against the real catalogue and makes the plan, which lists every task.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from tau_bridge.benchmark import Benchmark


DEFAULT_SEED = 300
"""The official engine's default seed."""
DEFAULT_MAX_STEPS = 200
DEFAULT_MAX_CONCURRENCY = 4
MAX_TRIALS = 100
MAX_STEPS = 10_000
MAX_CONCURRENCY = 1_000
MAX_SEED = 999_999_999
MAX_TASKS = 1_000_000
MAX_SHARDS = 20
BUILTIN_PREFIX = "builtin:"
"""Marks an address that names a bundled agent, for example `builtin:null`."""
NEEDS_GOLD = "oracle"
"""The bundled agent that gets the gold actions."""

EVERY_MEMBER = "all"
"""In place of an entry's role: the tasks go to every member of a team, one after the other."""

NAMED_OPTIONS = ("solo", "evaluation_type")
"""The options of benchmarks that requests and plans have fields for."""

EvaluationType = Literal["all", "action"]
"""`all`: the official reward. `action`: the legacy comparison of actions alone."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Participant(_Frozen):
    """An agent to evaluate: its role in the request, and `http(s)://...` or `builtin:<name>`."""

    role: str = "agent"
    address: str

    @property
    def builtin(self) -> str | None:
        """The bundled agent's name, None for an agent that somebody else runs."""
        if self.address.startswith(BUILTIN_PREFIX):
            return self.address.removeprefix(BUILTIN_PREFIX)
        return None


class Selection(_Frozen):
    """Tasks of one domain: by id, or `num_tasks` of them, or (neither) all of the split."""

    domain: str
    task_ids: tuple[str, ...] | None = None
    num_tasks: Annotated[int, Field(ge=1)] | None = None
    first: bool = False
    """A number of tasks means the first of the split; otherwise it means a stratified sample."""
    split: str = "base"


class EvaluationRequest(_Frozen):
    """The request as it was read. None means that it does not say, so the default applies."""

    participants: tuple[Participant, ...]
    selections: tuple[Selection, ...]
    num_trials: Annotated[int, Field(ge=1, le=MAX_TRIALS)] | None = None
    max_concurrency: Annotated[int, Field(ge=1, le=MAX_CONCURRENCY)] | None = None
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] | None = None
    max_steps: Annotated[int, Field(ge=1, le=MAX_STEPS)] | None = None
    solo: bool = False
    """Play without a user, where a benchmark has such tasks."""
    evaluation_type: EvaluationType = "all"
    options: dict[str, Any] = {}
    """Further options of benchmarks, by name."""
    user_llm: str | None = None
    user_llm_args: dict[str, Any] | None = None
    references: bool = False
    """The bundled agents that mark floor and ceiling play the same tasks, where these have them."""
    entry: str | None = None
    """The participants are one team, and this is the role that answers for it, or `all`."""
    shard_index: Annotated[int, Field(ge=0)] | None = None
    num_shards: Annotated[int, Field(ge=1, le=MAX_SHARDS)] | None = None
    reasoning: str = ""
    """Why these tasks, in a sentence or two, by the reader of the request."""
    warnings: tuple[str, ...] = ()
    """Parts of the request that were ignored, for example an unknown config key."""


class PlannedTasks(_Frozen):
    """The tasks of one domain that will be played, in order."""

    domain: str
    task_ids: tuple[str, ...]


class EvaluationPlan(_Frozen):
    """Exactly what will be played: every participant plays every task `num_trials` times."""

    participants: tuple[Participant, ...]
    members: tuple[Participant, ...] = ()
    """The whole team where the participants belong to one; empty where each stands for itself."""
    tasks: tuple[PlannedTasks, ...]
    num_trials: int = 1
    max_concurrency: int = DEFAULT_MAX_CONCURRENCY
    seed: int = DEFAULT_SEED
    max_steps: int = DEFAULT_MAX_STEPS
    solo: bool = False
    evaluation_type: EvaluationType = "all"
    options: dict[str, Any] = {}
    """Further options of benchmarks, by name."""
    user_llm: str | None = None
    user_llm_args: dict[str, Any] = Field(default_factory=dict)
    reasoning: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains that are played, in order."""
        return tuple(planned.domain for planned in self.tasks)

    def options_of(self, benchmark: Benchmark) -> dict[str, Any]:
        """Return the options of the plan that a benchmark has."""
        return options_of(self, benchmark)

    @property
    def total_trials(self) -> int:
        """The number of conversations."""
        tasks = sum(len(planned.task_ids) for planned in self.tasks)
        return len(self.participants) * tasks * self.num_trials


class Overrides(_Frozen):
    """The values of the command line's flags; each one that is given beats the sentence.

    Their bounds are those of a request. `adk_agent.requests.planning.resolve` checks them, so that its
    message names the flag.
    """

    num_trials: int | None = None
    max_concurrency: int | None = None
    seed: int | None = None
    max_steps: int | None = None
    limit: int | None = None
    """At most this many tasks of each domain: a sample, unless they are named or the first."""
    options: dict[str, str] | None = None
    """Further options of benchmarks by name, each as JSON or as plain text."""


def options_of(asked: EvaluationRequest | EvaluationPlan, benchmark: Benchmark) -> dict[str, Any]:
    """Return the options of a request or a plan that a benchmark has."""
    named = {name: getattr(asked, name) for name in NAMED_OPTIONS} | asked.options
    known = benchmark.options_type.model_fields
    return {name: value for name, value in named.items() if name in known}
