"""Goals: what a request asks to have done, each a tool with the slots that are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from purple_agent.case import Json, Session
from purple_agent.facts import about, is_of_another
from purple_agent.reasoners.deterministic import identifiers, slots
from purple_agent.reasoners.deterministic.acts import Act, acts_in
from purple_agent.reasoners.deterministic.clauses import Clause, clauses_of, is_short
from purple_agent.reasoners.deterministic.index import Parameter, Tool, ToolIndex
from purple_agent.reasoners.deterministic.matching import Matcher
from purple_agent.reasoners.deterministic.said import Said
from purple_agent.reasoners.deterministic.transcript import Thread
from purple_agent.reasoners.deterministic.words import (
    words_in,
)

MOST_GOALS: Final = 15


@dataclass(kw_only=True)
class Goal:
    """One call that is to be made, or something to be read."""

    tool: Tool
    clause: str
    said: dict[str, Json] = field(default_factory=dict)
    """The slots that its own clauses fill: by these it is told from other goals."""
    arguments: dict[str, Json] = field(default_factory=dict)
    missing: tuple[Parameter, ...] = ()
    own: dict[str, Json] = field(default_factory=dict)
    """The facts that are about its own things, see `facts.about`."""
    known: dict[str, Json] = field(default_factory=dict)
    """The facts that are not for certain about something else."""

    def from_known(self, parameter: Parameter, tool: Tool, said: str) -> Json:
        """The value that is known for a slot of a tool; None for none, or for several."""
        value = slots.from_known(parameter, tool, self.own, said)
        return slots.from_known(parameter, tool, self.known, said) if value is None else value

    def agrees(self, said: Mapping[str, Json]) -> bool:
        """Whether no slot is filled differently."""
        return all(self.said.get(key, value) == value for key, value in said.items())

    def is_done_by(self, arguments: Mapping[str, Json]) -> bool:
        """Whether a call did what the goal's own clauses say.

        Values are compared, not names: a tool's parameters may be named anew in between.
        """
        given = {str(value) for value in arguments.values()}
        return all(str(value) in given for value in self.said.values())


@dataclass(frozen=True, kw_only=True)
class Goals:
    """What a request asks for.

    Args:
        writes: Changes, in the order in which they were asked for.
        reads: What is only to be looked up.
        unsupported: Clauses that ask for a kind of act that no tool does.
        questions: Clauses that want to know something.
    """

    writes: tuple[Goal, ...] = ()
    reads: tuple[Goal, ...] = ()
    unsupported: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


def goals_of(
    session: Session, thread: Thread, index: ToolIndex, known: Mapping[str, Json]
) -> Goals:
    """The goals of a thread, their slots filled as far as anything known fills them."""
    matcher = Matcher(thread, index, known)
    writes: list[Goal] = []
    reads: list[Goal] = []
    unsupported: list[str] = []
    parts = [clause for text in thread.texts for clause in clauses_of(text)]
    for clause in parts:
        tool = matcher.write_for(clause)
        if tool is not None:
            _add(writes, _expanded(tool, clause, known))
        elif matcher.is_unsupported(clause):
            unsupported.append(clause.text)
        else:
            tool = matcher.read_for(clause)
            _add(reads, _expanded(tool, clause, known) if tool is not None else [])
    for goal in (*writes, *reads):
        _fill(goal, session, thread, known)
    return Goals(
        writes=tuple(writes[:MOST_GOALS]),
        reads=tuple(reads[:MOST_GOALS]),
        unsupported=tuple(dict.fromkeys(unsupported)),
        questions=tuple(clause.text for clause in parts if clause.is_question),
    )


# -- with what ---------------------------------------------------------------------------------


def _expanded(tool: Tool, clause: Clause, known: Mapping[str, Json]) -> list[Goal]:
    """A goal for each of several things named in one clause."""
    said = Said.of(clause.text)
    arguments = slots.explicit(tool, said, known)
    primary = next((p for p in tool.required if p.is_id and p.kind != "array"), None)
    ids = identifiers.ids_for(tool, primary, said, known) if primary else []
    others = {str(v) for k, v in arguments.items() if primary and k != primary.name}
    ids = [each for each in ids if each not in others]
    if primary is None or len(ids) < 2:
        return [Goal(tool=tool, clause=clause.text, said=arguments)]
    return [
        Goal(
            tool=tool,
            clause=clause.text,
            said={**arguments, primary.name: identifiers.typed_id(primary, [each])},
        )
        for each in ids
    ]


def _add(goals: list[Goal], new: list[Goal]) -> None:
    """Goals of one tool that do not disagree are one goal, said twice."""
    for goal in new:
        same = [each for each in goals if each.tool is goal.tool and each.agrees(goal.said)]
        if len(same) >= 1 and (len(new) == 1 or len(same) == 1):
            for each in same:
                each.said.update(goal.said)
        elif not same:
            goals.append(goal)


def _fill(goal: Goal, session: Session, thread: Thread, facts: Mapping[str, Json]) -> None:
    """Fill what a clause by itself left open: from the thread, from what is known, from before."""
    goal.arguments = dict(goal.said)
    for number, text in enumerate(thread.texts):
        for name, value in slots.explicit(goal.tool, Said.of(text), facts).items():
            goal.arguments.setdefault(name, value)
        asked = number > 0 and bool(thread.questions[number])
        if asked and is_short(text):
            _fill_with_answer(goal, text, session, thread, facts)
    _know(goal, session, thread, facts)
    _fill_from_known(goal, thread)
    for text in reversed(thread.earlier):
        if any(each.is_id for each in _missing(goal)):
            for name, value in slots.explicit(goal.tool, Said.of(text), goal.known).items():
                goal.arguments.setdefault(name, value)
    goal.missing = _missing(goal)


def _fill_with_answer(
    goal: Goal, text: str, session: Session, thread: Thread, facts: Mapping[str, Json]
) -> None:
    """Take a short answer to our question for the one slot that was open then."""
    _know(goal, session, thread, facts)
    spoken = "\n".join(thread.texts)
    open_ = [each for each in _missing(goal) if goal.from_known(each, goal.tool, spoken) is None]
    if len(open_) != 1:
        return
    parameter = open_[0]
    is_boolean = parameter.kind == "boolean"
    if _is_act(text) and not is_boolean:
        return
    value = slots.typed_value(parameter, text if is_boolean else slots.bare(text))
    if value is not None:
        goal.arguments[parameter.name] = value


def _know(goal: Goal, session: Session, thread: Thread, facts: Mapping[str, Json]) -> None:
    results = [(each.call, each.result) for each in thread.made]
    goal.own = about(session, goal.arguments, results)
    goal.known = _not_of_another(goal.arguments, facts)


def _not_of_another(arguments: Mapping[str, Json], facts: Mapping[str, Json]) -> dict[str, Json]:
    """The facts without the records that have another id than the arguments give."""
    return {
        entity: fact for entity, fact in facts.items() if not is_of_another(entity, fact, arguments)
    }


def _is_act(text: str) -> bool:
    return bool(acts_in(text) & {Act.CONFIRMATION, Act.DENIAL, Act.QUESTION, Act.HUMAN}) and (
        len(words_in(text)) <= 3 or Act.QUESTION in acts_in(text)
    )


def _fill_from_known(goal: Goal, thread: Thread) -> None:
    spoken = "\n".join(thread.texts)
    for parameter in goal.tool.required:
        if parameter.name in goal.arguments:
            continue
        value: Json = parameter.choices[0] if len(parameter.choices) == 1 else None
        if value is None:
            value = goal.from_known(parameter, goal.tool, spoken)
        if value is None and slots.is_free_text(parameter) and thread.texts:
            value = thread.texts[0].strip()[: slots.LONGEST_SLOT]
        if value is not None:
            goal.arguments[parameter.name] = value


def _missing(goal: Goal) -> tuple[Parameter, ...]:
    """The required parameters that the words leave open and that need more than the user's words."""
    return tuple(
        each
        for each in goal.tool.required
        if each.name not in goal.arguments
        and len(each.choices) != 1
        and not slots.is_free_text(each)
    )
