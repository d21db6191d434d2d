"""IntentDraft: an intent as a language model writes it down, and its conversion to an `Intent`.

The draft is flat, because models fill in a flat object more reliably than one of sixteen types.
Fields that do not belong to the intent are ignored, unknown fields are an error: they may hold a
condition that nothing else expresses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from adk_agent.core.plan import (
    EVERY_MEMBER,
    EvaluationRequest,
    EvaluationType,
    Participant,
    Selection,
)
from adk_agent.requests.agents import parse_address, with_roles
from adk_agent.requests.intent import (
    Ask,
    Cancel,
    Changes,
    Compare,
    Courtesy,
    Evaluate,
    Explain,
    Export,
    Failures,
    Help,
    Intent,
    Listable,
    ListThings,
    OffTopic,
    Refuse,
    Repeat,
    Results,
    Smalltalk,
    Status,
    Why,
)
from adk_agent.requests.refusal import Refusal
from adk_agent.requests.registered import address_of

IntentName = Literal[
    "evaluate",
    "ask",
    "refuse",
    "help",
    "smalltalk",
    "off_topic",
    "list",
    "explain",
    "status",
    "results",
    "failures",
    "why",
    "cancel",
    "repeat",
    "repeat_changed",
    "compare",
    "export",
]


class _Draft(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DraftAgent(_Draft):
    """An agent to evaluate."""

    address: str = Field(description="exactly as the person wrote it, or a name of an agent")
    role: str | None = Field(None, description="only if the person gives it one, in a team")


class DraftTask(_Draft):
    """A task that was chosen by its content."""

    id: str
    reason: str = Field("", description="why it fits, in a few words")


class DraftAttribute(_Draft):
    """An attribute that tasks must have, as find_tasks names it."""

    name: str
    value: str


class DraftSelection(_Draft):
    """Tasks of one domain."""

    domain: str
    num_tasks: int | None = Field(None, description="how many, if the person says a number")
    first: bool = Field(False, description="true only for 'the first N'")
    tasks: list[DraftTask] = Field(
        default_factory=list, description="tasks named by the person, or chosen by content"
    )
    split: str | None = Field(None, description="only if the person names one")
    about: str | None = Field(None, description="a topic, if find_tasks should choose the tasks")
    where: list[DraftAttribute] = Field(default_factory=list)
    without: list[str] = Field(default_factory=list, description="ids that are left out")

    @field_validator("tasks", mode="before")
    @classmethod
    def _as_tasks(cls, value: object) -> object:
        """Accept bare ids."""
        if not isinstance(value, list):
            return value
        return [{"id": str(each)} if isinstance(each, str | int) else each for each in value]


class IntentDraft(_Draft):
    """The person's wish. Null or empty: the person does not say."""

    intent: IntentName
    question: str | None = Field(None, description="for ask: the question to the person")
    reason: str | None = Field(None, description="for refuse: what cannot be done, and what can")
    agents: list[DraftAgent] = Field(default_factory=list)
    team: bool = Field(False, description="true if the agents work together as one team")
    entry: str | None = Field(None, description="the role that answers for the team, if named")
    selections: list[DraftSelection] = Field(default_factory=list)
    num_trials: int | None = Field(None, description="how often each task is played")
    max_concurrency: int | None = None
    seed: int | None = None
    max_steps: int | None = None
    solo: bool = Field(False, description="without a simulated user")
    references: bool = Field(False, description="floor and ceiling agents play the tasks as well")
    evaluation_type: EvaluationType = "all"
    chaos: str | None = Field(
        None,
        description="faults to inject, if asked for: network, duplicates, tools, prompts, "
        "names (others than in the data), members (faults between the members of a team), several "
        "with commas, or all",
    )
    isolation: bool = Field(False, description="probe for leaks between conversations")
    confidence: bool = Field(False, description="ask the agents how sure they are of passing")
    user_llm: str | None = Field(None, description="the model of the simulated user, if named")
    reasoning: str = Field("", description="why these tasks, in a sentence")
    unused: list[str] = Field(
        default_factory=list,
        description="words of the message, quoted, that this reading leaves out",
    )
    what: Listable | None = Field(None, description="for list")
    domain: str | None = Field(None, description="for list and why")
    split: str | None = Field(None, description="for list")
    about: str | None = Field(None, description="for list: a topic of tasks")
    term: str | None = Field(None, description="for explain")
    task_id: str | None = Field(None, description="for why")
    run_ids: list[str] = Field(default_factory=list, description="runs that the person names")
    everything: bool = Field(False, description="for cancel: all runs of the conversation")
    which: Literal["all", "failed", "missing"] = Field("all", description="for repeat")
    format: str | None = Field(None, description="for export: report, page, junit, ...")
    courtesy: Courtesy = Field("other", description="for smalltalk")

    @field_validator("agents", mode="before")
    @classmethod
    def _as_agents(cls, value: object) -> object:
        """Accept bare addresses."""
        if not isinstance(value, list):
            return value
        return [{"address": each} if isinstance(each, str) else each for each in value]


def intent_of(draft: IntentDraft, registered: Mapping[str, str]) -> Intent:
    """Return the intent that a draft describes; registered names become addresses.

    Raises:
        Refusal: An agent is no address.
        ValueError: A field that the intent needs is missing, or a value is out of range.
    """
    return _MAKERS[draft.intent](draft, registered)


def _evaluate(draft: IntentDraft, registered: Mapping[str, str]) -> Evaluate:
    shared = draft.model_dump(include=_SETTINGS)
    request = EvaluationRequest(
        participants=_participants(draft, registered),
        selections=tuple(map(_selection, draft.selections)),
        entry=(draft.entry or EVERY_MEMBER) if draft.team else None,
        **shared,
    )
    return Evaluate(request=request, unused=tuple(draft.unused))


_SETTINGS = {
    *("num_trials", "max_concurrency", "seed", "max_steps", "solo", "references"),
    *("evaluation_type", "user_llm", "reasoning", "chaos", "isolation", "confidence"),
}


def _participants(draft: IntentDraft, registered: Mapping[str, str]) -> tuple[Participant, ...]:
    agents = with_roles([_address(each, registered) for each in draft.agents])
    return tuple(
        agent if named.role is None else agent.model_copy(update={"role": named.role.strip()})
        for agent, named in zip(agents, draft.agents, strict=True)
    )


def _address(agent: DraftAgent, registered: Mapping[str, str]) -> str:
    return parse_address(str(address_of(agent.address.strip(), registered)))


def _selection(drafted: DraftSelection) -> Selection:
    ids = tuple(task.id for task in drafted.tasks)
    if ids and drafted.num_tasks not in (None, len(ids)):
        raise Refusal("contradiction", f"{len(ids)} tasks are chosen, but num_tasks says otherwise")
    return Selection(
        domain=drafted.domain.strip().lower(),
        task_ids=ids or None,
        num_tasks=None if ids else drafted.num_tasks,
        first=drafted.first,
        split=drafted.split or "base",
        about=None if ids else drafted.about or None,
        where={} if ids else {each.name: each.value for each in drafted.where},
        without=tuple(drafted.without),
        reasons={task.id: task.reason for task in drafted.tasks if task.reason},
    )


def _repeat(draft: IntentDraft, registered: Mapping[str, str]) -> Repeat:
    selection = draft.selections[0] if draft.selections else DraftSelection(domain="")
    changes = Changes(
        agents=tuple(_address(each, registered) for each in draft.agents) or None,
        domain=selection.domain.strip().lower() or None,
        num_tasks=selection.num_tasks,
        **draft.model_dump(include={"num_trials", "seed", "max_concurrency", "max_steps"}),
    )
    changed = changes != Changes() or draft.which != "all"
    return Repeat(
        intent="repeat_changed" if changed else "repeat",
        run_id=_run_id(draft),
        which=draft.which,
        changes=changes,
    )


def _one_agent(draft: IntentDraft, registered: Mapping[str, str]) -> str | None:
    if len(draft.agents) > 1:
        raise ValueError(f"the intent {draft.intent!r} is about one agent of a run, or all of them")
    return _address(draft.agents[0], registered) if draft.agents else None


def _run_id(draft: IntentDraft) -> str | None:
    return draft.run_ids[0] if draft.run_ids else None


def _needed(draft: IntentDraft, name: str) -> Any:
    value = getattr(draft, name)
    if not value:
        raise ValueError(f"the intent {draft.intent!r} needs {name!r}")
    return value


_Make = Callable[[IntentDraft, Mapping[str, str]], Intent]
_MAKERS: dict[IntentName, _Make] = {
    "evaluate": _evaluate,
    "ask": lambda draft, _: Ask(question=_needed(draft, "question")),
    "refuse": lambda draft, _: Refuse(reason=_needed(draft, "reason")),
    "help": lambda _draft, _: Help(),
    "smalltalk": lambda draft, _: Smalltalk(kind=draft.courtesy),
    "off_topic": lambda _draft, _: OffTopic(),
    "list": lambda draft, _: ListThings(
        what=_needed(draft, "what"), domain=draft.domain, split=draft.split, about=draft.about
    ),
    "explain": lambda draft, _: Explain(term=_needed(draft, "term")),
    "status": lambda draft, _: Status(run_id=_run_id(draft)),
    "results": lambda draft, _: Results(run_id=_run_id(draft)),
    "failures": lambda draft, named: Failures(
        run_id=_run_id(draft), agent=_one_agent(draft, named)
    ),
    "why": lambda draft, named: Why(
        run_id=_run_id(draft),
        agent=_one_agent(draft, named),
        task_id=draft.task_id,
        domain=draft.domain,
    ),
    "cancel": lambda draft, _: Cancel(run_id=_run_id(draft), everything=draft.everything),
    "repeat": _repeat,
    "repeat_changed": _repeat,
    "compare": lambda draft, _: Compare(run_ids=tuple(draft.run_ids)),
    "export": lambda draft, _: Export(run_id=_run_id(draft), format=draft.format),
}
