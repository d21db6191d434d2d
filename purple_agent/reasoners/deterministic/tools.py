"""Tools: what the names and schemas of a session's tools say about when and how to use them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from purple_agent.case import ToolSpec
from purple_agent.facts import entity_read_by
from purple_agent.reasoners.deterministic.utterance import id_shape, utterance_of
from purple_agent.reasoners.deterministic.words import LIGHT, acts_of, stem, words_in
from purple_agent.toolbox.control import Control, control_of

LONGEST_LABEL: Final = 100
"""Characters of a parameter's name that is looked for in texts."""
_LABELLED: Final = (
    r"\s*(?::|=|\bis\b|\bwill be\b|\bshould be\b|\b(?:of|to)\b(?= [\"'\d$€£]))\s*"
    r"(\"[^\"\n]{1,300}\"|'[^'\n]{1,300}'|[^;\n]{1,300}?)"
    r"(?=[;\n]|[.!?](?:\s|$)|,\s|\s+and\s|$)"
)
_ID_WORDS: Final = {"id", "ids", "number", "code", "ref", "reference"}


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a tool.

    Args:
        name: As the schema has it.
        words: The words of its name.
        kind: The JSON type; `string` where the schema gives none.
        required: A call must have it.
        choices: The values of an enumeration.
        is_date: It takes a day.
        examples: The shapes of the ids in its description.
    """

    name: str
    words: tuple[str, ...]
    kind: str
    required: bool
    choices: tuple[Any, ...] = ()
    is_date: bool = False
    examples: frozenset[str] = frozenset()

    @property
    def is_id(self) -> bool:
        """Tell whether it takes the id of something."""
        return not _ID_WORDS.isdisjoint(self.words[-1:])

    @property
    def entity(self) -> str:
        """Return what an id is of: `expense` for `expense_id`; empty for a mere `id`."""
        return "_".join(self.words[:-1])

    @cached_property
    def label(self) -> re.Pattern[str] | None:
        """Return the pattern of its name and a value, group 1; None where the name says little."""
        parts = [part for part in self.words if part != "id"]
        if not parts or len(self.name) > LONGEST_LABEL:
            return None
        return re.compile(rf"\b{'[ _-]?'.join(map(re.escape, parts))}\b{_LABELLED}", re.I)


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool with the words by which it is recognised, all as stems.

    Args:
        spec: As the provider describes it.
        role: The kind of control tool; empty for every other tool.
        verb: The first word of its name.
        nouns: The other words of its name.
        parameters: In the order of the schema.
        entity: The entity that its result is filed under, see `entity_read_by`.
        rivals: The parameters of all tools that take the id of something.
    """

    spec: ToolSpec
    role: Control | Literal[""]
    verb: str
    nouns: frozenset[str]
    parameters: tuple[Parameter, ...]
    entity: str
    rivals: tuple[Parameter, ...] = ()

    @property
    def name(self) -> str:
        """Return the tool's name."""
        return self.spec.name

    @cached_property
    def required(self) -> tuple[Parameter, ...]:
        """Return the parameters that a call must have."""
        return tuple(each for each in self.parameters if each.required)

    def does(self, verbs: Iterable[str]) -> bool:
        """Tell whether one of the stemmed verbs asks for what the tool does.

        Where the tool's verb says little, its nouns say what it does: "refund" asks for
        `issue_refund`.
        """
        acts = acts_of(self.verb)
        if self.verb in LIGHT:
            acts = acts.union(*map(acts_of, self.nouns))
        return any(each == self.verb or acts_of(each) & acts for each in verbs)


@dataclass(frozen=True, kw_only=True)
class ToolIndex:
    """The tools of one session: those that read, those that may write, and control tools."""

    reads: tuple[Tool, ...]
    writes: tuple[Tool, ...]
    controls: Mapping[str, Tool]


def index_of(specs: Iterable[ToolSpec]) -> ToolIndex:
    """Prepare tools for matching."""
    plain = [_tool(spec) for spec in specs]
    takers = {p.name: p for tool in plain for p in tool.parameters if p.is_id and p.entity}
    tools = [replace(tool, rivals=tuple(takers.values())) for tool in plain]
    return ToolIndex(
        reads=tuple(each for each in tools if not each.role and not each.spec.is_write),
        writes=tuple(each for each in tools if not each.role and each.spec.is_write),
        controls={each.role: each for each in reversed(tools) if each.role},
    )


def _tool(spec: ToolSpec) -> Tool:
    verb, *nouns = words_in(spec.name) or ("",)
    properties, required = spec.parameters.get("properties"), spec.parameters.get("required")
    needed = required if isinstance(required, list) else []
    found = properties.items() if isinstance(properties, dict) else ()
    return Tool(
        spec=spec,
        role=control_of(spec.name) or "",
        verb=stem(verb),
        nouns=frozenset(map(stem, nouns)),
        parameters=tuple(_parameter(name, schema, name in needed) for name, schema in found)[:100],
        entity=entity_read_by(spec.name),
    )


def _parameter(name: str, schema: Any, required: bool) -> Parameter:
    """Read a parameter's schema; what is no schema stands for a text."""
    schema = schema if isinstance(schema, dict) else {}
    kinds = schema.get("type", "string")
    kind = next((k for k in kinds if k != "null"), "") if isinstance(kinds, list) else kinds
    described = str(schema.get("description", ""))
    choices = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return Parameter(
        name=name,
        words=words_in(name),
        kind=kind if isinstance(kind, str) and kind else "string",
        required=required,
        choices=tuple(choices[:100]) if isinstance(choices, list) else (),
        is_date="date" in words_in(name) or schema.get("format") in ("date", "date-time"),
        examples=frozenset(id_shape(each.text) for each in utterance_of(described[:500]).ids),
    )
