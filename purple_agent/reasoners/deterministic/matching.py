"""Matching: which tool a clause asks to use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from purple_agent.case import Json
from purple_agent.reasoners.deterministic import identifiers, slots
from purple_agent.reasoners.deterministic.clauses import Clause
from purple_agent.reasoners.deterministic.index import Parameter, Tool, ToolIndex, names_act
from purple_agent.reasoners.deterministic.said import Said
from purple_agent.reasoners.deterministic.transcript import Thread
from purple_agent.reasoners.deterministic.words import (
    GENERIC_STEMS,
    LIGHT_STEMS,
    NEGATIVE_STEMS,
    acts_of,
    stem,
    stems,
)

ENOUGH: Final = 60.0
"""The score, of 100, from which a clause asks for a tool that changes something."""
ENOUGH_TO_READ: Final = 35.0
EARLIER_TEXTS: Final = 2
"""How many texts before the present request "it" may reach back to."""

_POINTS: Final = re.compile(r"\b(?:it|its|this|that|them|their|these|those|both)\b", re.I)
"""Words that stand for what another clause names."""
_ASIDE: Final = frozenset(
    map(
        stem,
        [
            "request",
            "ask",
            "help",
            "use",
            "tell",
            "see",
            "know",
            "check",
            "confirm",
            "note",
            "let",
            "go",
        ],
    )
)
_UPDATES: Final = acts_of(stem("update"))
_ABOUT_POLICY: Final = frozenset(stems("policy rule guideline threshold"))


def is_about_policy(text: str) -> bool:
    """Whether a question is about what the policy says."""
    return bool(_ABOUT_POLICY & set(stems(text)))


class Matcher:
    """Finds the tools for the clauses of one thread."""

    def __init__(self, thread: Thread, index: ToolIndex, known: Mapping[str, Json]) -> None:
        self._thread = thread
        self._index = index
        self._known = known
        self._around = frozenset(each for text in thread.texts for each in index.stems_of(text))
        self._before = self._around.union(
            *(index.stems_of(text) for text in thread.earlier[-EARLIER_TEXTS:])
        )

    def write_for(self, clause: Clause) -> Tool | None:
        """The tool by which a clause asks to change something; None for none, or for two alike."""
        if clause.is_background or clause.is_question or clause.reads_only:
            return None
        said = self._index.stems_of(clause.text)
        candidates, sure = self._candidates(clause, said)
        values = self._values(clause)
        rated = sorted(
            (
                (self._score(tool, clause, said, values), -number)
                for number, tool in enumerate(candidates)
            ),
            reverse=True,
        )
        if not rated or rated[0][0] < ENOUGH:
            return None
        if len(rated) > 1 and rated[0][0] == rated[1][0] and not sure:
            return None
        return candidates[-rated[0][1]]

    def read_for(self, clause: Clause) -> Tool | None:
        """The tool that looks up what a clause wants to know."""
        if not (clause.is_question or clause.reads_only) or is_about_policy(clause.text):
            return None
        own, values = set(self._index.stems_of(clause.text)), self._values(clause)
        around = self._before if _POINTS.search(clause.text) else self._around
        best = (0.0, 0)
        for number, tool in enumerate(self._index.reads):
            share = _share(tool.nouns, own, around)
            fits = self._has_id_for(tool, tool.parameters, values)
            lacks = any(each.is_id for each in tool.required) and not fits
            points = 50 * share + 40 * fits - 20 * lacks + 3 * min(5, len(tool.described & own))
            if share > 0 or fits:
                best = max(best, (points, -number))
        return self._index.reads[-best[1]] if best[0] >= ENOUGH_TO_READ else None

    def is_unsupported(self, clause: Clause) -> bool:
        """Whether a clause asks for a kind of act, on something of ours, that no tool does."""
        if clause.is_background or clause.is_question:
            return False
        verbs = _specific(clause.verbs)
        if not verbs or GENERIC_STEMS & set(verbs):
            return False
        nouns = {noun for tool in self._index.tools if not tool.role for noun in tool.nouns}
        concerns = nouns - set(verbs) & set(self._index.stems_of(clause.text))
        named = bool(concerns & set(self._index.stems_of(clause.text)))
        return named and not any(names_act(tool, verbs) for tool in self._index.tools)

    def _candidates(self, clause: Clause, said: Sequence[str]) -> tuple[list[Tool], bool]:
        """The tools that do what a clause asks for, and whether its own verb says so."""
        writes = self._index.writes
        leading = [tool for tool in writes if names_act(tool, clause.verbs)]
        if leading:
            return leading, True
        becoming = [tool for tool in writes if _brings_about(tool, clause)]
        if becoming or _specific(clause.verbs, light=False):
            return becoming, False
        anywhere = [tool for tool in writes if names_act(tool, said)]
        if not anywhere and GENERIC_STEMS & set(said):
            anywhere = [tool for tool in writes if tool.verb not in NEGATIVE_STEMS]
        return anywhere, False

    def _values(self, clause: Clause) -> Said:
        """The values of a clause; those of all the request where it points to another clause."""
        if _POINTS.search(clause.text):
            earlier = self._thread.earlier[-EARLIER_TEXTS:]
            return Said.of("\n".join((clause.text, *self._thread.texts, *earlier)))
        return Said.of(clause.text)

    def _score(self, tool: Tool, clause: Clause, said: Sequence[str], values: Said) -> float:
        """How well a clause asks for a tool, 0 to 100: verb 50, nouns 40, the rest description.

        A noun that stands elsewhere in the request counts half; an id of the right form counts as
        half of the nouns.
        """
        own = set(said)
        around = self._before if _POINTS.search(clause.text) else self._around
        share = _share(tool.nouns, own, around)
        if share < 1 and self._has_id_for(tool, tool.required, values):
            share = max(share, 0.5)
        exact = 3.0 if tool.verb in (clause.verbs or own) else 0.0
        return 50.0 + 40.0 * share + exact + min(5.0, len(tool.described & own))

    def _has_id_for(self, tool: Tool, parameters: Iterable[Parameter], values: Said) -> bool:
        return any(
            identifiers.ids_for(tool, each, values, self._known)
            for each in parameters
            if each.is_id
        )


def _specific(verbs: Iterable[str], *, light: bool = True) -> list[str]:
    """The verbs that name a kind of act; without `light`, also not those that say little."""
    found = [each for each in verbs if acts_of(each) and each not in _ASIDE]
    return [each for each in found if light or each not in LIGHT_STEMS]


def _brings_about(tool: Tool, clause: Clause) -> bool:
    """Whether a tool sets the state that a clause names: "close it" sets a status to closed."""
    return bool(_UPDATES & tool.verb_acts) and any(
        slots.choice_in(each, clause.text) is not None for each in tool.required if each.choices
    )


def _share(nouns: frozenset[str], own: set[str], around: frozenset[str]) -> float:
    if not nouns:
        return 0.5
    return sum(1.0 if each in own else 0.5 * (each in around) for each in nouns) / len(nouns)
