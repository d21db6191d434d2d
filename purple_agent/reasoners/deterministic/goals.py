"""Goals: what a request asks to have done, each a tool with the slots that are known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from purple_agent.case import Json
from purple_agent.facts import is_of_another
from purple_agent.reasoners.deterministic import slots
from purple_agent.reasoners.deterministic.clauses import Clause, clauses_of
from purple_agent.reasoners.deterministic.request import Request
from purple_agent.reasoners.deterministic.tools import Parameter, Tool, ToolIndex
from purple_agent.reasoners.deterministic.utterance import utterance_of
from purple_agent.reasoners.deterministic.words import LIGHT, acts_of, stem, words_in

MAX_GOALS: Final = 15
ENOUGH_TO_WRITE: Final = 0.25
"""The share of a tool's nouns from which a clause asks for a change."""
ENOUGH_TO_READ: Final = 0.7
EARLIER_TEXTS: Final = 2
"""Texts before the present request that "it" may reach back to."""
SHORT: Final = 10
"""Words of a text that can be the bare answer to a question."""

_POINTS_BACK: Final = re.compile(r"\b(?:it|its|this|that|them|their|these|those|both)\b", re.I)


@dataclass(kw_only=True)
class Goal:
    """One call that is to be made.

    Args:
        tool: The tool to call.
        stated: The slots that its own clause fills, by which it differs from other goals.
        arguments: The slots that are filled by now.
        known: The facts that are not certainly about something else.
    """

    tool: Tool
    stated: dict[str, Json]
    arguments: dict[str, Json] = field(default_factory=dict)
    known: dict[str, Json] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[Parameter, ...]:
        """Return the required parameters that are still open."""
        return tuple(each for each in self.tool.required if each.name not in self.arguments)

    def is_done_by(self, arguments: Mapping[str, Json]) -> bool:
        """Tell whether a call did what the goal's own clause says.

        Values are compared and no names, for a tool's parameters may be renamed in between.
        """
        given = {str(value) for value in arguments.values()}
        return all(str(value) in given for value in self.stated.values())


@dataclass(frozen=True, kw_only=True)
class Goals:
    """The wishes of a request.

    Args:
        calls: The calls to make: changes first, in the order in which they were asked for.
        unsupported: Clauses that ask for something that no tool does.
        questions: Clauses that want to know something.
    """

    calls: tuple[Goal, ...]
    unsupported: tuple[str, ...]
    questions: tuple[str, ...]


def goals_of(request: Request, index: ToolIndex, facts: Mapping[str, Json]) -> Goals:
    """Return the goals of a request, their slots filled as far as anything known fills them."""
    writes, reads, unsupported = list[Goal](), list[Goal](), list[str]()
    clauses = [clause for text in request.texts for clause in clauses_of(text)]
    for clause in clauses:
        if tool := _write_for(clause, request, index):
            _add(writes, _goals(tool, clause))
        elif _is_unsupported(clause, index):
            unsupported.append(clause.text)
        elif tool := _read_for(clause, request, index):
            _add(reads, _goals(tool, clause))
    calls = (*writes[:MAX_GOALS], *reads[:MAX_GOALS])
    for goal in calls:
        _fill(goal, request, facts)
    return Goals(
        calls=calls,
        unsupported=tuple(dict.fromkeys(unsupported)),
        questions=tuple(clause.text for clause in clauses if clause.is_question),
    )


# -- which tool --------------------------------------------------------------------------------


def _write_for(clause: Clause, request: Request, index: ToolIndex) -> Tool | None:
    """Return the tool by which a clause asks for a change; None for none, or for two alike."""
    if clause.is_background or clause.is_question or clause.reads_only:
        return None
    candidates = asked = [tool for tool in index.writes if tool.does(clause.verbs)]
    if not asked and _acts(clause) - LIGHT:
        candidates = [tool for tool in index.writes if _sets(tool, clause)]
    elif not asked:
        candidates = [tool for tool in index.writes if tool.does(clause.stems)]
    # An id that fits counts as half of the nouns.
    shares = [
        max(_share(tool, clause, request), 0.5 * _has_id(tool, clause, request))
        for tool in candidates
    ]
    best = max(shares, default=0.0)
    if best < ENOUGH_TO_WRITE or (not asked and shares.count(best) > 1):
        return None
    return candidates[shares.index(best)]


def _sets(tool: Tool, clause: Clause) -> bool:
    """Tell whether a tool sets the state that a clause names: "close it" sets it to `closed`."""
    choosing = (each for each in tool.required if each.choices)
    return tool.does((stem("update"),)) and any(slots.choice_in(p, clause.text) for p in choosing)


def _read_for(clause: Clause, request: Request, index: ToolIndex) -> Tool | None:
    """Return the tool that looks up what a clause wants to know."""
    best: tuple[float, Tool | None] = (0.0, None)
    for tool in index.reads if clause.is_question or clause.reads_only else ():
        has_id = _has_id(tool, clause, request)
        lacks_id = not has_id and any(each.is_id for each in tool.required)
        score = _share(tool, clause, request) + 0.8 * has_id - 0.4 * lacks_id
        if score >= ENOUGH_TO_READ and score > best[0]:
            best = (score, tool)
    return best[1]


def _is_unsupported(clause: Clause, index: ToolIndex) -> bool:
    """Tell whether a clause asks to do something to our things that no tool does."""
    if clause.is_background or clause.is_question:
        return False
    tools, verbs = (*index.reads, *index.writes), _acts(clause)
    nouns = frozenset[str]().union(*(tool.nouns for tool in tools)) - verbs
    is_ours = bool(verbs) and not nouns.isdisjoint(clause.stems)
    return is_ours and not any(tool.does(verbs) for tool in (*tools, *index.controls.values()))


def _acts(clause: Clause) -> frozenset[str]:
    return frozenset(verb for verb in clause.verbs if acts_of(verb))


def _share(tool: Tool, clause: Clause, request: Request) -> float:
    """Return how many of a tool's nouns are said, 0 to 1; elsewhere in the request count half."""
    said, around = clause.stems, request.stems
    named = sum(1.0 if noun in said else 0.5 * (noun in around) for noun in tool.nouns)
    return named / len(tool.nouns) if tool.nouns else 0.5


def _has_id(tool: Tool, clause: Clause, request: Request) -> bool:
    text = clause.text
    if _POINTS_BACK.search(text):
        text = "\n".join((text, request.whole, *request.earlier[-EARLIER_TEXTS:]))
    said = utterance_of(text)
    return any(slots.ids_for(tool, each, said) for each in tool.parameters if each.is_id)


# -- with what ---------------------------------------------------------------------------------


def _goals(tool: Tool, clause: Clause) -> list[Goal]:
    """Return a goal for each of the things that a clause names."""
    said = utterance_of(clause.text)
    stated = slots.slots_in(tool, said)
    primary = next((p for p in tool.required if p.is_id and p.kind != "array"), None)
    if primary is not None:
        others = {str(value) for name, value in stated.items() if name != primary.name}
        ids = [each for each in slots.ids_for(tool, primary, said) if each not in others]
        if len(ids) > 1:
            each_stated = [{**stated, primary.name: slots.typed_id(primary, id_)} for id_ in ids]
            return [Goal(tool=tool, stated=each) for each in each_stated]
    return [Goal(tool=tool, stated=stated)]


def _add(goals: list[Goal], new: list[Goal]) -> None:
    """Add goals; one that contradicts none of its tool says the same thing once more."""
    for goal in new:
        same = [each for each in goals if each.tool is goal.tool]
        said = goal.stated.items()
        if all(any(each.stated.get(k, v) != v for k, v in said) for each in same):
            goals.append(goal)


def _fill(goal: Goal, request: Request, facts: Mapping[str, Json]) -> None:
    """Fill what a goal's clause left open: from the request, from facts, from earlier texts."""
    goal.arguments = dict(goal.stated)
    for text, question in zip(request.texts, request.questions, strict=True):
        _fill_from(goal, text)
        if question and len(words_in(text)) <= SHORT:
            _fill_with_answer(goal, text, facts)
    goal.known = _known(goal, facts)
    for parameter in goal.missing:
        value = slots.known_value(parameter, goal.known)
        if value is not None:
            goal.arguments[parameter.name] = value
    for text in reversed(request.earlier):
        if any(each.is_id for each in goal.missing):
            _fill_from(goal, text)


def _fill_from(goal: Goal, text: str) -> None:
    goal.arguments = {**slots.slots_in(goal.tool, utterance_of(text)), **goal.arguments}


def _fill_with_answer(goal: Goal, text: str, facts: Mapping[str, Json]) -> None:
    """Take a short answer to our question for the one slot that was open then."""
    known = _known(goal, facts)
    open_ = [each for each in goal.missing if slots.known_value(each, known) is None]
    if len(open_) == 1:
        value = slots.typed_value(open_[0], text)
        if value is not None:
            goal.arguments[open_[0].name] = value


def _known(goal: Goal, facts: Mapping[str, Json]) -> dict[str, Json]:
    return {
        entity: fact
        for entity, fact in facts.items()
        if not is_of_another(entity, fact, goal.arguments)
    }
