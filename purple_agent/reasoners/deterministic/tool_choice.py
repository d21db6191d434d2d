"""Tool choice: which tool a clause asks to use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from purple_agent.reasoners.deterministic import slots
from purple_agent.reasoners.deterministic.clauses import Clause
from purple_agent.reasoners.deterministic.request import Request
from purple_agent.reasoners.deterministic.tools import Parameter, Tool, ToolIndex
from purple_agent.reasoners.deterministic.utterance import utterance_of
from purple_agent.reasoners.deterministic.words import (
    LIGHT_STEMS,
    acts_of,
    stem,
    stems,
)

ENOUGH_TO_WRITE: Final = 0.25
"""The score, of about 1, from which a clause asks for a tool that changes something."""
ENOUGH_TO_READ: Final = 0.7
EARLIER_TEXTS: Final = 2
"""How many texts before the present request "it" may reach back to."""

_POINTS_BACK: Final = re.compile(r"\b(?:it|its|this|that|them|their|these|those|both)\b", re.I)
_ASIDE: Final = frozenset(map(stem, ["request", "ask", "help", "check", "confirm", "note"]))
"""Verbs of acts that rather are about the conversation."""
_POLICY_WORDS: Final = frozenset(stems("policy rule guideline threshold"))


def is_about_policy(text: str) -> bool:
    """Tell whether a question is about what the policy says."""
    return not _POLICY_WORDS.isdisjoint(stems(text))


@dataclass(frozen=True, kw_only=True)
class ToolChoice:
    """Chooses tools for the clauses of one request."""

    request: Request
    index: ToolIndex

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
        best: tuple[float, Tool | None] = (0.0, None)
        for tool in self.index.reads:
            share, has_id = self._share(tool, clause), self._has_id(tool, tool.parameters, clause)
            lacks_id = not has_id and any(each.is_id for each in tool.required)
            score = share + 0.8 * has_id - 0.4 * lacks_id
            if score >= ENOUGH_TO_READ and score > best[0]:
                best = (score, tool)
        return best[1]

    def is_unsupported(self, clause: Clause) -> bool:
        """Tell whether a clause asks to do something to our things that no tool does."""
        verbs = _verbs_of_acts(clause)
        if clause.is_background or clause.is_question or not verbs:
            return False
        nouns = {noun for tool in self.index.tools if not tool.role for noun in tool.nouns}
        is_ours = not (nouns - verbs).isdisjoint(stems(clause.text))
        return is_ours and not any(tool.does(verbs) for tool in self.index.tools)

    def _candidates(self, clause: Clause) -> tuple[list[Tool], bool]:
        """Return the tools that do what a clause asks for, and whether its own verb says so."""
        asked = [tool for tool in self.index.writes if tool.does(clause.verbs)]
        if asked:
            return asked, True
        if _verbs_of_acts(clause) - LIGHT_STEMS:
            return [tool for tool in self.index.writes if _sets(tool, clause)], False
        return [tool for tool in self.index.writes if tool.does(stems(clause.text))], False

    def _score(self, tool: Tool, clause: Clause) -> float:
        """Rate how well a clause asks for a tool: by its nouns or an id that fits, and its verb."""
        share = self._share(tool, clause)
        if share < 0.5 and self._has_id(tool, tool.required, clause):
            share = 0.5
        is_exact = tool.verb in (clause.verbs or stems(clause.text))
        return share + 0.075 * is_exact

    def _share(self, tool: Tool, clause: Clause) -> float:
        """Return how many of a tool's nouns are said, 0 to 1; elsewhere in the request count half."""
        said = stems(clause.text)
        named = sum(1.0 if noun in said else 0.5 * (noun in self._around) for noun in tool.nouns)
        return named / len(tool.nouns) if tool.nouns else 0.5

    def _has_id(self, tool: Tool, parameters: Iterable[Parameter], clause: Clause) -> bool:
        text = clause.text
        if _POINTS_BACK.search(text):
            earlier = self.request.earlier[-EARLIER_TEXTS:]
            text = "\n".join((text, *self.request.texts, *earlier))
        said = utterance_of(text)
        return any(slots.ids_for(tool, each, said) for each in parameters if each.is_id)


def _verbs_of_acts(clause: Clause) -> frozenset[str]:
    return frozenset(each for each in clause.verbs if acts_of(each)) - _ASIDE


def _sets(tool: Tool, clause: Clause) -> bool:
    """Tell whether a tool sets the state that a clause names: "close it" sets it to `closed`."""
    choosing = (each for each in tool.required if each.choices)
    return tool.does((stem("update"),)) and any(slots.choice_in(p, clause.text) for p in choosing)
