"""SelectorDraft: a language model's reading of a request, checked against its text."""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from adk_agent.core.plan import EvaluationRequest, Selection
from adk_agent.requests.reading.addresses import find_addresses, parse_address, with_roles
from adk_agent.requests.reading.domains import with_known_domains
from adk_agent.requests.reading.numbers import with_digits
from adk_agent.requests.reading.vocabulary import Vocabulary


class DraftSelection(BaseModel):
    """Tasks of one domain."""

    model_config = ConfigDict(extra="forbid")

    domain: str = Field(description="a domain, as list_tasks or the instruction names it")
    task_ids: list[str] | None = Field(None, description="only ids that the request names")
    num_tasks: int | None = Field(None, description="how many, if the request says a number")
    first: bool = Field(False, description="true only if it says 'the first N tasks'")
    split: str | None = Field(None, description="only if the request names one")


class SelectorDraft(BaseModel):
    """The reading of a request. Null means that the request does not say."""

    model_config = ConfigDict(extra="forbid")

    refusal: str | None = Field(
        None, description="why nothing can be evaluated and what to write instead, else null"
    )
    agents: list[str] = Field(
        default_factory=list,
        description="addresses exactly as in the request, or builtin:null, builtin:echo, ...",
    )
    selections: list[DraftSelection] = Field(default_factory=list)
    num_trials: int | None = None
    max_concurrency: int | None = None
    seed: int | None = None
    max_steps: int | None = None
    solo: bool = False
    evaluation_type: Literal["all", "action"] = "all"
    user_llm: str | None = None
    reasoning: str = Field("", description="one or two sentences on why these tasks")
    warnings: list[str] = Field(default_factory=list)


_SHARED = {
    *("num_trials", "max_concurrency", "seed", "max_steps", "solo", "evaluation_type"),
    *("user_llm", "reasoning", "warnings"),
}
"""Fields that a draft and a request have in common."""


def draft_of(request: EvaluationRequest) -> SelectorDraft:
    """Return the draft equivalent to a request that was read by rules."""
    shared = request.model_dump(mode="json", include={*_SHARED, "selections"})
    agents = [participant.address for participant in request.participants]
    return SelectorDraft.model_validate({**shared, "agents": agents})


def request_of(draft: SelectorDraft) -> EvaluationRequest:
    """Return the request that a draft describes.

    Raises:
        pydantic.ValidationError: A value is out of range.
        Refusal: An agent is neither an address nor bundled.
    """
    return EvaluationRequest(
        participants=with_roles([parse_address(agent.strip()) for agent in draft.agents]),
        selections=tuple(map(_selection_of, draft.selections)),
        **draft.model_dump(include=_SHARED),
    )


def _selection_of(drafted: DraftSelection) -> Selection:
    return Selection(
        domain=drafted.domain.strip().lower(),
        task_ids=tuple(drafted.task_ids) if drafted.task_ids else None,
        num_tasks=drafted.num_tasks,
        first=drafted.first,
        split=drafted.split or "base",
    )


def ungrounded(draft: SelectorDraft, text: str, vocabulary: Vocabulary) -> list[str]:
    """List, in words, a draft's agents, domains and numbers that are not in the request's text.

    A model may be wrong, or be manipulated by the text it reads. An address that is not in the
    text, or is there for another purpose, is never contacted; a domain or number that is not in the
    text is never used.

    Raises:
        Refusal: The text or the draft names an invalid agent.
    """
    found = find_addresses(text, vocabulary)
    lowered = found.text.lower()  # without the addresses, whose digits are no counts
    named = {participant.address for participant in found.participants}
    problems = [
        f"the agent {agent!r}"
        for agent in draft.agents
        if parse_address(agent.strip()) not in named
    ]
    corrected, _ = with_known_domains(lowered, vocabulary)
    problems += [
        f"the domain {selection.domain!r}"
        for selection in draft.selections
        if selection.domain.strip().lower() not in corrected
    ]
    spelled_out, _ = with_digits(lowered, vocabulary)
    said = {float(number) for number in _NUMBER.findall(f"{lowered} {spelled_out}")}
    said |= {value for word, value in _COUNTING_ADVERBS.items() if word in lowered}
    numbers = {
        "num_trials": draft.num_trials,
        "max_concurrency": draft.max_concurrency,
        "seed": draft.seed,
        "max_steps": draft.max_steps,
        **{f"num_tasks of {s.domain}": s.num_tasks for s in draft.selections},
    }
    problems += [
        f"{name} {value}"
        for name, value in numbers.items()
        if value is not None and value not in said
    ]
    for selection in draft.selections:
        problems += [
            f"the task id {task_id!r}"
            for task_id in selection.task_ids or ()
            if not _mentioned(task_id, lowered)
        ]
    if draft.user_llm is not None and draft.user_llm.lower() not in lowered:
        problems.append(f"the user model {draft.user_llm!r}")
    return problems


_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_COUNTING_ADVERBS = {"once": 1.0, "twice": 2.0, "thrice": 3.0, "single": 1.0}
_RANGE = re.compile(r"(\d+)\s*(?:-|–|to|through|until)\s*(\d+)")


def _mentioned(task_id: str, lowered: str) -> bool:
    whole = rf"(?<![\w.]){re.escape(task_id.lower())}(?![\w])"
    if re.search(whole, lowered):
        return True
    if not task_id.isdigit():
        return False
    return any(int(a) <= int(task_id) <= int(b) for a, b in _RANGE.findall(lowered))


def differences(draft: SelectorDraft, by_rules: SelectorDraft) -> list[str]:
    """List, in words, how a draft differs from the reading by rules; the reasoning may differ."""
    one, other = (
        {**each.model_dump(include=_SHARED), "agents": _addresses(each)}
        for each in (draft, by_rules)
    )
    found = [
        f"{name} {getattr(draft, name)!r} where the request says {getattr(by_rules, name)!r}"
        for name in one
        if one[name] != other[name] and name not in ("reasoning", "warnings")
    ]
    if list(map(_selection_of, draft.selections)) != list(map(_selection_of, by_rules.selections)):
        found.append("other tasks than the request names")
    return found


def _addresses(draft: SelectorDraft) -> list[str]:
    return [parse_address(agent.strip()) for agent in draft.agents]
