"""Goals: what a request asks to have done, each a tool with the slots that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from purple_agent.case import Json
from purple_agent.facts import is_of_another
from purple_agent.reasoners.deterministic import slots
from purple_agent.reasoners.deterministic.clauses import Clause, clauses_of
from purple_agent.reasoners.deterministic.dialogue_acts import Act, acts_in
from purple_agent.reasoners.deterministic.request import Request
from purple_agent.reasoners.deterministic.tool_choice import ToolChoice
from purple_agent.reasoners.deterministic.tools import Parameter, Tool, ToolIndex
from purple_agent.reasoners.deterministic.utterance import utterance_of
from purple_agent.reasoners.deterministic.words import words_in

MAX_GOALS: Final = 15
SHORT: Final = 10
"""Words of a text that can be the bare answer to a question."""
_NO_VALUES: Final = {Act.CONFIRMATION, Act.DENIAL, Act.QUESTION, Act.HUMAN}


@dataclass(kw_only=True)
class Goal:
    """One call that is to be made.

    Args:
        tool: The tool to call.
        clause: What asked for it.
        stated: The slots that its own clauses fill, by which it differs from other goals.
        arguments: The slots that are filled by now.
        known: The facts that are not certainly about something else.
    """

    tool: Tool
    clause: str
    stated: dict[str, Json] = field(default_factory=dict)
    arguments: dict[str, Json] = field(default_factory=dict)
    known: dict[str, Json] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[Parameter, ...]:
        """Return the required parameters that are still open."""
        return tuple(each for each in self.tool.required if each.name not in self.arguments)

    def is_done_by(self, arguments: Mapping[str, Json]) -> bool:
        """Tell whether a call did what the goal's own clauses say.

        Values are compared and no names, for a tool's parameters may be renamed in between.
        """
        given = {str(value) for value in arguments.values()}
        return all(str(value) in given for value in self.stated.values())


@dataclass(frozen=True, kw_only=True)
class Goals:
    """What a request asks for.

    Args:
        calls: The calls to make: changes first, in the order in which they were asked for.
        unsupported: Clauses that ask for something that no tool does.
        questions: Clauses that want to know something.
    """

    calls: tuple[Goal, ...]
    unsupported: tuple[str, ...]
    questions: tuple[str, ...]


def goals_of(request: Request, index: ToolIndex, known: Mapping[str, Json]) -> Goals:
    """Return the goals of a request, their slots filled as far as anything known fills them."""
    choice = ToolChoice(request=request, index=index)
    writes, reads, unsupported = list[Goal](), list[Goal](), list[str]()
    clauses = [clause for text in request.texts for clause in clauses_of(text)]
    for clause in clauses:
        if tool := choice.write_for(clause):
            _add(writes, _goals(tool, clause))
        elif choice.is_unsupported(clause):
            unsupported.append(clause.text)
        elif tool := choice.read_for(clause):
            _add(reads, _goals(tool, clause))
    calls = (*writes[:MAX_GOALS], *reads[:MAX_GOALS])
    for goal in calls:
        _fill(goal, request, known)
    return Goals(
        calls=calls,
        unsupported=tuple(dict.fromkeys(unsupported)),
        questions=tuple(clause.text for clause in clauses if clause.is_question),
    )


def _goals(tool: Tool, clause: Clause) -> list[Goal]:
    """Return a goal for each of the things that a clause names."""
    said = utterance_of(clause.text)
    stated = slots.slots_in(tool, said)
    primary = next((p for p in tool.required if p.is_id and p.kind != "array"), None)
    if primary is not None:
        others = {str(value) for name, value in stated.items() if name != primary.name}
        ids = [each for each in slots.ids_for(tool, primary, said) if each not in others]
        if len(ids) > 1:
            each_stated = [{**stated, primary.name: slots.typed_id(primary, [id_])} for id_ in ids]
            return [Goal(tool=tool, clause=clause.text, stated=each) for each in each_stated]
    return [Goal(tool=tool, clause=clause.text, stated=stated)]


def _add(goals: list[Goal], new: list[Goal]) -> None:
    """Add goals; one that contradicts none of its tool says the same thing once more."""
    for goal in new:
        contradicted = [
            any(each.stated.get(name, value) != value for name, value in goal.stated.items())
            for each in goals
            if each.tool is goal.tool
        ]
        if all(contradicted):
            goals.append(goal)


def _fill(goal: Goal, request: Request, facts: Mapping[str, Json]) -> None:
    """Fill what a goal's clauses left open: from the request, from facts, from earlier texts."""
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
    if len(open_) != 1:
        return
    is_boolean = open_[0].kind == "boolean"
    if is_boolean or not acts_in(text) & _NO_VALUES:
        value = slots.typed_value(open_[0], text if is_boolean else slots.bare(text))
        if value is not None:
            goal.arguments[open_[0].name] = value


def _known(goal: Goal, facts: Mapping[str, Json]) -> dict[str, Json]:
    return {
        entity: fact
        for entity, fact in facts.items()
        if not is_of_another(entity, fact, goal.arguments)
    }
