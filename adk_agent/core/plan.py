"""EvaluationRequest: what was asked for. EvaluationPlan: exactly what will be played.

A request names things (`domain: shop, num_tasks: 5`). `adk_agent.requests.planning.resolve` checks
them against the catalogue and makes the plan, which lists every task.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tau_bridge.chaos.profiles import ChaosPlan

if TYPE_CHECKING:
    from tau_bridge.benchmark import Benchmark


DEFAULT_SEED = 300
"""The official engine's default seed."""
DEFAULT_MAX_STEPS = 200
DEFAULT_MAX_CONCURRENCY = 4
MAX_PARTICIPANTS = 100
"""Agents of one request. Each is asked for its card before anything is played."""
MAX_TRIALS = 100
MAX_STEPS = 10_000
MAX_CONCURRENCY = 1_000
MAX_SEED = 999_999_999
MAX_TASKS = 1_000_000
MAX_SHARDS = 20
MAX_RETRY_USER = 10
BUILTIN_PREFIX = "builtin:"
"""Marks an address that names a bundled agent, for example `builtin:null`."""
GULLIBLE = "gullible"
NEEDS_GOLD = frozenset(
    {"oracle", GULLIBLE, "idempotent", "writes-twice", "forgetful", "retrying", "candid"}
)
"""The bundled agents that are given the gold actions."""

EVERY_MEMBER = "all"
"""Used instead of an entry's role: every member of the team gets the tasks, one after another."""

NAMED_OPTIONS = ("solo", "evaluation_type")
"""The options of benchmarks that requests and plans have fields for."""

TASK_FILES = "task_files"
"""The option of benchmarks that names files of tasks. Only the person at this machine sets it."""

EvaluationType = Literal["all", "action"]
"""`all`: the official reward. `action`: the legacy comparison of actions alone."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Participant(_Frozen):
    """An agent to evaluate: its role in the request, and its address.

    That is `http(s)://...`, `builtin:<name>`, or `python:<name>` for code of a Python program.
    """

    role: str = "agent"
    address: str

    @property
    def builtin(self) -> str | None:
        """The bundled agent's name; None for an external agent."""
        if self.address.startswith(BUILTIN_PREFIX):
            return self.address.removeprefix(BUILTIN_PREFIX)
        return None


class Selection(_Frozen):
    """Tasks of one domain: by id, or `num_tasks` of them, or (neither) all of the split.

    `about` and `where` narrow the split down before anything is counted.
    """

    domain: str
    task_ids: tuple[str, ...] | None = None
    num_tasks: Annotated[int, Field(ge=1)] | None = None
    first: bool = False
    """Take the first `num_tasks` of the split instead of a stratified sample."""
    split: str = "base"
    about: str | None = None
    """A topic; every content word of it stands in the text of each task."""
    where: dict[str, str] = {}
    """Attributes that each task has, by name, as `find_tasks` takes them."""
    without: tuple[str, ...] = ()
    """Ids that are left out."""
    reasons: dict[str, str] = {}
    """Why a task was chosen, by id, where the reader of the request says so."""


class EvaluationRequest(_Frozen):
    """The request as it was read. None means not given, so the default applies."""

    participants: tuple[Participant, ...]
    selections: tuple[Selection, ...]
    num_trials: Annotated[int, Field(ge=1, le=MAX_TRIALS)] | None = None
    max_concurrency: Annotated[int, Field(ge=1, le=MAX_CONCURRENCY)] | None = None
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] | None = None
    max_steps: Annotated[int, Field(ge=1, le=MAX_STEPS)] | None = None
    solo: bool = False
    """Play without a user, where a benchmark has such tasks."""
    evaluation_type: EvaluationType = "all"
    retry_user: Annotated[int, Field(ge=0, le=MAX_RETRY_USER)] = 0
    """Most times that a trial is played again whose simulated user has a proven fault."""
    judge_user: bool = False
    """Have the judge's model look for faults of simulated users."""
    isolation: bool = False
    """Probe the agents after the trials: do they tell one conversation what belongs to another?"""
    confidence: bool = False
    """Ask the agents to state their confidence."""
    chaos: str | None = None
    """Faults to inject, as `tau_bridge.chaos.profiles.parse_chaos` reads them; planning checks it."""
    options: dict[str, Any] = {}
    """Further options of benchmarks, by name."""
    user_llm: str | None = None
    user_llm_args: dict[str, Any] | None = None
    references: bool = False
    """Have the bundled floor and ceiling agents play the same tasks too, if the tasks have them."""
    entry: str | None = None
    """The role that answers for the team, or `all`, if the participants are one team."""
    shard_index: Annotated[int, Field(ge=0)] | None = None
    num_shards: Annotated[int, Field(ge=1, le=MAX_SHARDS)] | None = None
    named_size: bool = False
    """The request says itself how much is played, for example "all", or a program wrote it: then
    a large plan needs no confirmation. A number of tasks and ids say so without this."""
    reasoning: str = ""
    """The reason for these tasks in a sentence or two, by the reader of the request."""
    warnings: tuple[str, ...] = ()
    """Parts of the request that were ignored, for example an unknown config key."""


class PlannedTasks(_Frozen):
    """The tasks of one domain that will be played, in order."""

    domain: str
    task_ids: tuple[str, ...]
    reasons: dict[str, str] = {}
    """Why a task was chosen, by id; empty where all of a split or a sample of it is played."""
    roles: dict[str, str] = {}
    """The member of the team that is asked, by id; every participant where there is none."""

    def ids_for(self, participant: Participant) -> tuple[str, ...]:
        """Return the tasks that a participant plays, in order."""
        mine = participant.role
        return tuple(each for each in self.task_ids if self.roles.get(each, mine) == mine)


class EvaluationPlan(_Frozen):
    """Exactly what will be played: every participant plays every task `num_trials` times."""

    participants: tuple[Participant, ...]
    members: tuple[Participant, ...] = ()
    """The whole team if the participants belong to one; empty if they are separate agents."""
    tasks: tuple[PlannedTasks, ...]
    num_trials: Annotated[int, Field(ge=1, le=MAX_TRIALS)] = 1
    max_concurrency: Annotated[int, Field(ge=1, le=MAX_CONCURRENCY)] = DEFAULT_MAX_CONCURRENCY
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] = DEFAULT_SEED
    max_steps: Annotated[int, Field(ge=1, le=MAX_STEPS)] = DEFAULT_MAX_STEPS
    solo: bool = False
    evaluation_type: EvaluationType = "all"
    isolation: bool = False
    """True if the agents are probed after the trials."""
    confidence: bool = False
    """True if the agents are asked to state their confidence."""
    options: dict[str, Any] = {}
    """Further options of benchmarks, by name."""
    task_files: tuple[str, ...] = ()
    """The files that the tasks come from, by their absolute paths."""
    user_llm: str | None = None
    user_llm_args: dict[str, Any] = Field(default_factory=dict)
    retry_user: Annotated[int, Field(ge=0, le=MAX_RETRY_USER)] = 0
    """The most times that a trial is played again because its user had a proven fault."""
    judge_user: bool = False
    """True if a judge looks for faults of simulated users too, with a call for each trial."""
    chaos: ChaosPlan | None = None
    """The faults under which every trial is played once more; None: it is played plain only."""
    reasoning: str = ""
    shortfalls: tuple[str, ...] = ()
    """A sentence for each selection of which fewer tasks were found than asked for; to be confirmed."""
    warnings: tuple[str, ...] = ()

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains of the plan, in order."""
        return tuple(planned.domain for planned in self.tasks)

    def options_of(self, benchmark: Benchmark) -> dict[str, Any]:
        """Return the plan's options that a benchmark supports."""
        return options_of(self, benchmark)

    @property
    def total_trials(self) -> int:
        """The number of trials to play, each a conversation."""
        tasks = sum(len(each.ids_for(who)) for who in self.participants for each in self.tasks)
        return tasks * self.num_trials

    @property
    def most_conversations(self) -> int:
        """The number of conversations, those under injected faults included where all are played."""
        again = len(self.chaos.families) if self.chaos is not None else 0
        return self.total_trials * (1 + again)


class Overrides(_Frozen):
    """The values of command-line flags, which override the request.

    `adk_agent.requests.planning.resolve` checks them against the bounds of a request, so that its
    message can name the flag.
    """

    num_trials: int | None = None
    max_concurrency: int | None = None
    seed: int | None = None
    max_steps: int | None = None
    limit: int | None = None
    """The most tasks per domain: a sample, unless the request names tasks or takes the first."""
    user_llm: str | None = None
    retry_user: int | None = None
    judge_user: bool = False
    isolation: bool = False
    confidence: bool = False
    chaos: str | None = None
    """A profile of faults, or their rates, as `tau_bridge.chaos.profiles.parse_chaos` reads them."""
    options: dict[str, str] | None = None
    """Further options of benchmarks by name, each as JSON or as plain text."""


def options_of(asked: EvaluationRequest | EvaluationPlan, benchmark: Benchmark) -> dict[str, Any]:
    """Return the options of a request or plan that a benchmark supports."""
    return options_named(asked, benchmark.options_type.model_fields)


def options_named(
    asked: EvaluationRequest | EvaluationPlan, names: Collection[str]
) -> dict[str, Any]:
    """Return the options of a request or plan that have one of these names."""
    named = {name: getattr(asked, name) for name in NAMED_OPTIONS} | asked.options
    if isinstance(asked, EvaluationPlan):
        named[TASK_FILES] = asked.task_files
    return {name: value for name, value in named.items() if name in names}
