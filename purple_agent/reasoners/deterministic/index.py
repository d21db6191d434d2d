"""ToolIndex: a session's tools prepared for matching, and the match itself."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal

from rapidfuzz import fuzz

from purple_agent.case import ToolSpec
from purple_agent.facts import entity_read_by
from purple_agent.reasoners.deterministic import words
from purple_agent.reasoners.deterministic.words import LIGHT_STEMS, acts_of, stem, stems, words_in
from purple_agent.toolbox.control import Control, control_of

MOST_INDEXES: Final = 64
"""Sessions whose indexes are kept ready."""
MOST_TOOLS: Final = 500
LONGEST_LABEL: Final = 100
"""Characters of a parameter's name that is looked for in texts."""
_LABELLED: Final = (
    r"\s*(?::|=|\bis\b|\bwill be\b|\bshould be\b|\b(?:of|to)\b(?= [\"'\d$€£]))\s*"
    r"(\"[^\"\n]{1,300}\"|'[^'\n]{1,300}'|[^;\n]{1,300}?)"
    r"(?=[;\n]|[.!?](?:\s|$)|,\s|\s+and\s|$)"
)
_LENGTHS_APART: Final = 3
_LIKE_ENOUGH: Final = 86.0


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of a tool, read from its schema; whatever is no such schema reads as text."""

    name: str
    schema: Mapping[str, Any]
    required: bool

    @cached_property
    def kind(self) -> str:
        """The JSON type; `string` where none is given."""
        given = self.schema.get("type", "string")
        if isinstance(given, list):
            given = next((each for each in given if each != "null"), "string")
        return given if isinstance(given, str) else "string"

    @cached_property
    def choices(self) -> tuple[Any, ...]:
        """The values of an enumeration."""
        given = self.schema.get("enum")
        if isinstance(given, list):
            return tuple(given[:100])
        return (self.schema["const"],) if "const" in self.schema else ()

    @cached_property
    def description(self) -> str:
        """What the schema says of it."""
        given = self.schema.get("description")
        return given[:500] if isinstance(given, str) else ""

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return words_in(self.name)

    @cached_property
    def label(self) -> re.Pattern[str] | None:
        """Finds what stands behind its name in a text, as group 1; None where the name says little."""
        parts = [part for part in self.words if part != "id"]
        if not parts or len(self.name) > LONGEST_LABEL:
            return None
        return re.compile(rf"\b{'[ _-]?'.join(map(re.escape, parts))}\b{_LABELLED}", re.I)

    @cached_property
    def is_id(self) -> bool:
        """Whether it takes the id of something."""
        last = self.words[-1:]
        return last in {("id",), ("ids",), ("number",), ("code",), ("ref",), ("reference",)}

    @cached_property
    def entity(self) -> str:
        """What an id is of: `expense` for `expense_id`; empty for a mere `id`."""
        return "_".join(self.words[:-1])


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool with the words by which it is recognised."""

    spec: ToolSpec
    role: Control | Literal[""]
    """What control tool it is; empty for every other tool."""
    verb: str
    verb_acts: frozenset[int]
    nouns: frozenset[str]
    described: frozenset[str]
    parameters: tuple[Parameter, ...]
    entity: str
    """Of a read: what it files, see `entity_read_by`."""
    rivals: frozenset[str] = frozenset()
    """The entities of the tools beside it that its own parameters do not name."""

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.spec.name

    @cached_property
    def required(self) -> tuple[Parameter, ...]:
        """The parameters that a call must have."""
        return tuple(each for each in self.parameters if each.required)


@dataclass(frozen=True, kw_only=True)
class ToolIndex:
    """The tools of one session."""

    tools: tuple[Tool, ...]
    vocabulary: frozenset[str] = field(default=frozenset())

    @cached_property
    def _by_letter(self) -> Mapping[str, tuple[str, ...]]:
        letters = sorted({known[0] for known in self.vocabulary})
        return {
            letter: tuple(sorted(each for each in self.vocabulary if each[0] == letter))
            for letter in letters
        }

    def tool(self, name: str) -> Tool | None:
        """A tool by its name."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def control(self, role: Control) -> Tool | None:
        """The tool that asks for approval, looks after one, or escalates."""
        return next((tool for tool in self.tools if tool.role == role), None)

    @cached_property
    def reads(self) -> tuple[Tool, ...]:
        """The tools that change nothing and are not for control."""
        return tuple(tool for tool in self.tools if not tool.spec.is_write and not tool.role)

    @cached_property
    def writes(self) -> tuple[Tool, ...]:
        """The tools that may change something and are not for control."""
        return tuple(tool for tool in self.tools if tool.spec.is_write and not tool.role)

    def stems_of(self, text: str) -> tuple[str, ...]:
        """The stems of a text, misspelt ones put right where a tool's word is near."""
        return tuple(self._put_right(each) for each in stems(text))

    def _put_right(self, stemmed: str) -> str:
        if len(stemmed) < 5 or stemmed in self.vocabulary or acts_of(stemmed):
            return stemmed
        scored = [
            (fuzz.ratio(stemmed, known), known)
            for known in self._by_letter.get(stemmed[0], ())
            if abs(len(known) - len(stemmed)) < _LENGTHS_APART
        ]
        best = max(scored, default=(0.0, ""))
        return best[1] if best[0] >= _LIKE_ENOUGH else stemmed


def names_act(tool: Tool, verbs: Sequence[str]) -> bool:
    """Whether one of the verbs is the tool's, or asks for the same kind of act.

    Of a tool whose verb says little, the nouns say what it does: "refund" means `issue_refund`.
    """
    acts = tool.verb_acts
    if tool.verb in LIGHT_STEMS:
        acts = acts.union(*map(acts_of, tool.nouns))
    return any(each == tool.verb or acts_of(each) & acts for each in verbs)


def _tool(spec: ToolSpec) -> Tool:
    parts = words_in(spec.name)
    head = stem(parts[0]) if parts else ""
    described = frozenset(stems(spec.description[:600]))
    properties = spec.parameters.get("properties")
    required = spec.parameters.get("required")
    needed = (
        {each for each in required if isinstance(each, str)}
        if isinstance(required, list)
        else set()
    )
    parameters = tuple(
        Parameter(
            name=name, schema=schema if isinstance(schema, dict) else {}, required=name in needed
        )
        for name, schema in (properties.items() if isinstance(properties, dict) else ())
        if isinstance(name, str)
    )
    return Tool(
        spec=spec,
        role=control_of(spec.name) or "",
        verb=head,
        verb_acts=acts_of(head),
        nouns=frozenset(stem(word) for word in parts[1:] if word not in words.STOP),
        described=described - {head},
        parameters=parameters[:100],
        entity=entity_read_by(spec.name),
    )


def _entities(tool: Tool) -> Iterator[str]:
    """What a tool's ids are of, and what it reads."""
    yield from (each.entity for each in tool.parameters if each.is_id and each.entity)
    if not tool.spec.is_write and not tool.role:
        yield tool.entity


class Indexes:
    """Indexes by the tools that they were made of, the latest used ones kept.

    A tool that another session has just the same is prepared once.
    """

    def __init__(self) -> None:
        self._tools: OrderedDict[str, Tool] = OrderedDict()
        self._kept: OrderedDict[int, tuple[tuple[ToolSpec, ...], ToolIndex]] = OrderedDict()

    def of(self, specs: tuple[ToolSpec, ...]) -> ToolIndex:
        """The index of these tools. The tools are kept with it, so that their id stays theirs."""
        kept = self._kept.get(id(specs))
        if kept is None or kept[0] is not specs:
            kept = (specs, self._index(specs))
            self._kept[id(specs)] = kept
            if len(self._kept) > MOST_INDEXES:
                self._kept.popitem(last=False)
        self._kept.move_to_end(id(specs))
        return kept[1]

    def _index(self, specs: tuple[ToolSpec, ...]) -> ToolIndex:
        tools = tuple(map(self._tool, specs))
        vocabulary = frozenset(
            each for tool in tools for each in (tool.verb, *tool.nouns) if len(each) > 3
        )
        entities = frozenset(each for tool in tools for each in _entities(tool))
        rivalling = tuple(
            replace(tool, rivals=entities.difference(p.entity for p in tool.parameters))
            for tool in tools
        )
        return ToolIndex(tools=rivalling, vocabulary=vocabulary)

    def _tool(self, spec: ToolSpec) -> Tool:
        kept = self._tools.get(spec.name)
        if kept is None or kept.spec != spec:
            kept = self._tools[spec.name] = _tool(spec)
            if len(self._tools) > MOST_TOOLS:
                self._tools.popitem(last=False)
        self._tools.move_to_end(spec.name)
        return kept
