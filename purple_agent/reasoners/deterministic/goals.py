"""Goals: what a request asks to have done, each a tool with the slots that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from purple_agent.case import Json, Session
from purple_agent.facts import about, is_of_another
from purple_agent.reasoners.deterministic import slots
from purple_agent.reasoners.deterministic.clauses import Clause, clauses_of
from purple_agent.reasoners.deterministic.dialogue_acts import Act, acts_in
from purple_agent.reasoners.deterministic.ids import IdReader, typed_id
from purple_agent.reasoners.deterministic.request import Request
from purple_agent.reasoners.deterministic.tool_choice import ToolChoice
from purple_agent.reasoners.deterministic.tools import Parameter, Tool
from purple_agent.reasoners.deterministic.utterance import utterance_of
from purple_agent.reasoners.deterministic.words import words_in

MAX_GOALS: Final = 15
SHORT: Final = 10
"""Words of a text that can be the bare answer to a question."""


@dataclass(kw_only=True)
class Goal:
    """One call that is to be made.

    Args:
        tool: The tool to call.
        clause: What asked for it.
        stated: The slots that its own clauses fill, by which it differs from other goals.
        arguments: The slots that are filled by now.
        own: The facts about its own things, see `facts.about`.
        known: The facts that are not certainly about something else.
    """

    tool: Tool
    clause: str
    stated: dict[str, Json] = field(default_factory=dict)
    arguments: dict[str, Json] = field(default_factory=dict)
    own: dict[str, Json] = field(default_factory=dict)
    known: dict[str, Json] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[Parameter, ...]:
        """Return the required parameters that are still open and are no free text."""
        return tuple(
            each
            for each in self.tool.required
            if each.name not in self.arguments and not slots.is_free_text(each)
        )

    def known_value(self, parameter: Parameter, tool: Tool, said: str) -> Json:
        """Return the known value for a slot of a tool; None for none, or for several."""
        value = slots.known_value(parameter, tool, self.own, said)
        return slots.known_value(parameter, tool, self.known, said) if value is None else value

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


def goals_of(session: Session, request: Request, ids: IdReader) -> Goals:
    """Return the goals of a request, their slots filled as far as anything known fills them."""
    choice = ToolChoice(request=request, index=ids.index, ids=ids)
    writes, reads, unsupported = list[Goal](), list[Goal](), list[str]()
    clauses = [clause for text in request.texts for clause in clauses_of(text)]
    for clause in clauses:
        if tool := choice.write_for(clause):
            _add(writes, _goals(tool, clause, ids))
        elif choice.is_unsupported(clause):
            unsupported.append(clause.text)
        elif tool := choice.read_for(clause):
            _add(reads, _goals(tool, clause, ids))
    calls = (*writes[:MAX_GOALS], *reads[:MAX_GOALS])
    for goal in calls:
        _fill(goal, session, request, ids)
    return Goals(
        calls=calls,
        unsupported=tuple(dict.fromkeys(unsupported)),
        questions=tuple(clause.text for clause in clauses if clause.is_question),
    )


def _goals(tool: Tool, clause: Clause, ids: IdReader) -> list[Goal]:
    """Return a goal for each of the things that a clause names."""
    said = utterance_of(clause.text)
    stated = slots.slots_in(tool, said, ids)
    primary = next((p for p in tool.required if p.is_id and p.kind != "array"), None)
    if primary is not None:
        others = {str(value) for name, value in stated.items() if name != primary.name}
        things = [each for each in ids.ids_for(tool, primary, said) if each not in others]
        if len(things) > 1:
            each_stated = [{**stated, primary.name: typed_id(primary, [each])} for each in things]
            return [Goal(tool=tool, clause=clause.text, stated=each) for each in each_stated]
    return [Goal(tool=tool, clause=clause.text, stated=stated)]


def _add(goals: list[Goal], new: list[Goal]) -> None:
    """Add goals; one that contradicts none of its tool says the same thing once more."""
    for goal in new:
        same = [
            each
            for each in goals
            if each.tool is goal.tool
            and all(each.stated.get(name, value) == value for name, value in goal.stated.items())
        ]
        if not same:
            goals.append(goal)
        elif len(new) == 1 or len(same) == 1:
            for each in same:
                each.stated.update(goal.stated)


def _fill(goal: Goal, session: Session, request: Request, ids: IdReader) -> None:
    """Fill what a goal's clauses left open: from the request, from facts, from earlier texts."""
    goal.arguments = dict(goal.stated)
    for text, question in zip(request.texts, request.questions, strict=True):
        _fill_from(goal, text, ids)
        if question and len(words_in(text)) <= SHORT:
            _know(goal, session, request, ids.known)
            _fill_with_answer(goal, text, request.whole)
    _know(goal, session, request, ids.known)
    for parameter in goal.missing:
        value = goal.known_value(parameter, goal.tool, request.whole)
        if value is not None:
            goal.arguments[parameter.name] = value
    for text in reversed(request.earlier):
        if any(each.is_id for each in goal.missing):
            _fill_from(goal, text, ids)
    for parameter in goal.tool.required:
        if slots.is_free_text(parameter) and request.texts:
            wording = request.texts[0].strip()[: slots.LONGEST_SLOT]
            goal.arguments.setdefault(parameter.name, wording)


def _fill_from(goal: Goal, text: str, ids: IdReader) -> None:
    for name, value in slots.slots_in(goal.tool, utterance_of(text), ids).items():
        goal.arguments.setdefault(name, value)


def _fill_with_answer(goal: Goal, text: str, said: str) -> None:
    """Take a short answer to our question for the one slot that was open then."""
    open_ = [each for each in goal.missing if goal.known_value(each, goal.tool, said) is None]
    if len(open_) != 1:
        return
    is_boolean = open_[0].kind == "boolean"
    acts = acts_in(text) & {Act.CONFIRMATION, Act.DENIAL, Act.QUESTION, Act.HUMAN}
    if acts and not is_boolean and (len(words_in(text)) <= 3 or Act.QUESTION in acts):
        return
    value = slots.typed_value(open_[0], text if is_boolean else slots.bare(text))
    if value is not None:
        goal.arguments[open_[0].name] = value


def _know(goal: Goal, session: Session, request: Request, facts: Mapping[str, Json]) -> None:
    results = [(each.call, each.result) for each in request.made]
    goal.own = about(session, goal.arguments, results)
    goal.known = {
        entity: fact
        for entity, fact in facts.items()
        if not is_of_another(entity, fact, goal.arguments)
    }
