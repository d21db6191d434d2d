"""Tool choice: which tool a clause asks to use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from purple_agent.reasoners.deterministic import slots
from purple_agent.reasoners.deterministic.clauses import Clause
from purple_agent.reasoners.deterministic.ids import IdReader
from purple_agent.reasoners.deterministic.request import Request
from purple_agent.reasoners.deterministic.tools import Parameter, Tool, ToolIndex
from purple_agent.reasoners.deterministic.utterance import Utterance, utterance_of
from purple_agent.reasoners.deterministic.words import (
    GENERIC_STEMS,
    LIGHT_STEMS,
    NEGATIVE_STEMS,
    acts_of,
    stem,
    stems,
)

ENOUGH_TO_WRITE: Final = 60.0
"""The score, of 100, from which a clause asks for a tool that changes something."""
ENOUGH_TO_READ: Final = 35.0
EARLIER_TEXTS: Final = 2
"""How many texts before the present request "it" may reach back to."""

_POINTS_BACK: Final = re.compile(r"\b(?:it|its|this|that|them|their|these|those|both)\b", re.I)
_ASIDE: Final = frozenset(map(stem, ["request", "ask", "help", "check", "confirm", "note"]))
"""Verbs of acts that rather are about the conversation."""
_UPDATE: Final = acts_of(stem("update"))
_POLICY_WORDS: Final = frozenset(stems("policy rule guideline threshold"))


def is_about_policy(text: str) -> bool:
    """Tell whether a question is about what the policy says."""
    return not _POLICY_WORDS.isdisjoint(stems(text))


@dataclass(frozen=True, kw_only=True)
class ToolChoice:
    """Chooses tools for the clauses of one request."""

    request: Request
    index: ToolIndex
    ids: IdReader

    @cached_property
    def _around(self) -> frozenset[str]:
        return frozenset(each for text in self.request.texts for each in stems(text))

    def write_for(self, clause: Clause) -> Tool | None:
        """Return the tool by which a clause asks for a change; None for none, or for two alike."""
        if clause.is_background or clause.is_question or clause.reads_only:
            return None
        candidates, is_sure = self._candidates(clause)
        scored = sorted(
            ((self._score(tool, clause), tool.name) for tool in candidates), reverse=True
        )
        if not scored or scored[0][0] < ENOUGH_TO_WRITE:
            return None
        is_tie = len(scored) > 1 and scored[0][0] == scored[1][0]
        return self.index.tool(scored[0][1]) if is_sure or not is_tie else None

    def read_for(self, clause: Clause) -> Tool | None:
        """Return the tool that looks up what a clause wants to know."""
        if not (clause.is_question or clause.reads_only) or is_about_policy(clause.text):
            return None
        best: tuple[float, Tool | None] = (ENOUGH_TO_READ - 1, None)
        for tool in self.index.reads:
            share, has_id = self._share(tool, clause), self._has_id(tool, tool.parameters, clause)
            lacks_id = not has_id and any(each.is_id for each in tool.required)
            described = len(tool.described.intersection(stems(clause.text)))
            points = 50 * share + 40 * has_id - 20 * lacks_id + 3 * min(5, described)
            if (share or has_id) and points > best[0]:
                best = (points, tool)
        return best[1]

    def is_unsupported(self, clause: Clause) -> bool:
        """Tell whether a clause asks to do something to our things that no tool does."""
        verbs = _verbs_of_acts(clause)
        if clause.is_background or clause.is_question or not verbs or GENERIC_STEMS & verbs:
            return False
        nouns = {noun for tool in self.index.tools if not tool.role for noun in tool.nouns}
        is_ours = not (nouns - verbs).isdisjoint(stems(clause.text))
        return is_ours and not any(tool.does(verbs) for tool in self.index.tools)

    def _candidates(self, clause: Clause) -> tuple[list[Tool], bool]:
        """Return the tools that do what a clause asks for, and whether its own verb says so."""
        writes, said = self.index.writes, stems(clause.text)
        asked = [tool for tool in writes if tool.does(clause.verbs)]
        if asked:
            return asked, True
        # "Close it" asks to set a status to `closed`.
        setting = [
            tool
            for tool in writes
            if _UPDATE & acts_of(tool.verb)
            and any(slots.choice_in(p, clause.text) is not None for p in tool.required if p.choices)
        ]
        if setting or _verbs_of_acts(clause) - LIGHT_STEMS:
            return setting, False
        mentioned = [tool for tool in writes if tool.does(said)]
        if not mentioned and not GENERIC_STEMS.isdisjoint(said):
            mentioned = [tool for tool in writes if tool.verb not in NEGATIVE_STEMS]
        return mentioned, False

    def _score(self, tool: Tool, clause: Clause) -> float:
        """Rate how well a clause asks for a tool that does what it says, from 50 to 98.

        The nouns count 40, the very verb 3, and words of the description 5. An id that fits counts
        as half of the nouns.
        """
        said = frozenset(stems(clause.text))
        share = self._share(tool, clause)
        if share < 0.5 and self._has_id(tool, tool.required, clause):
            share = 0.5
        exact = 3.0 if tool.verb in (clause.verbs or said) else 0.0
        return 50.0 + 40.0 * share + exact + min(5.0, len(tool.described & said))

    def _share(self, tool: Tool, clause: Clause) -> float:
        """Return how many of a tool's nouns are said, 0 to 1; elsewhere in the request count half."""
        said, around = frozenset(stems(clause.text)), self._around
        if _POINTS_BACK.search(clause.text):
            around = around.union(*map(stems, self.request.earlier[-EARLIER_TEXTS:]))
        named = sum(1.0 if noun in said else 0.5 * (noun in around) for noun in tool.nouns)
        return named / len(tool.nouns) if tool.nouns else 0.5

    def _has_id(self, tool: Tool, parameters: Iterable[Parameter], clause: Clause) -> bool:
        said = self._values(clause)
        return any(self.ids.ids_for(tool, p, said) for p in parameters if p.is_id)

    def _values(self, clause: Clause) -> Utterance:
        """Return the clause, with the rest of the request where it points to another clause."""
        if not _POINTS_BACK.search(clause.text):
            return utterance_of(clause.text)
        earlier = self.request.earlier[-EARLIER_TEXTS:]
        return utterance_of("\n".join((clause.text, *self.request.texts, *earlier)))


def _verbs_of_acts(clause: Clause) -> frozenset[str]:
    return frozenset(each for each in clause.verbs if acts_of(each)) - _ASIDE
