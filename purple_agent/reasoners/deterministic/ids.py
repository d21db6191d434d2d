"""Ids: which of the ids in a text is meant for which parameter of a tool."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from purple_agent.case import Json
from purple_agent.reasoners.deterministic.tools import Parameter, Tool, ToolIndex
from purple_agent.reasoners.deterministic.utterance import Utterance, Value, id_shape
from purple_agent.reasoners.deterministic.words import stem, words_in


@dataclass(frozen=True, kw_only=True)
class IdReader:
    """Reads ids by their letters, the words beside them, and ids that are known.

    Args:
        index: All tools: an id that stands for something else of theirs is not taken.
        known: Facts, for the shapes of ids.
    """

    index: ToolIndex
    known: Mapping[str, Json]

    def slots_in(self, tool: Tool, said: Utterance, *, least: int) -> dict[str, Json]:
        """Give each id of a text to the parameter that it fits best, if its rank is `least`."""
        offers = [
            (-rank, number, value.start, parameter, value.text)
            for number, parameter in enumerate(tool.parameters)
            if parameter.is_id and not parameter.choices
            for rank, value in self._ranked(tool, parameter, said)
            if rank >= least
        ]
        filled: dict[str, Json] = {}
        taken: set[str] = set()
        for rank, _, _, parameter, text in sorted(offers, key=lambda offer: offer[:3]):
            if parameter.name in filled or text in taken:
                continue
            alike = [each[4] for each in offers if each[3] is parameter and each[0] == rank]
            texts = alike if parameter.kind == "array" else [text]
            filled[parameter.name] = typed_id(parameter, texts)
            taken.update(texts)
        return filled

    def ids_for(self, tool: Tool, parameter: Parameter, said: Utterance) -> list[str]:
        """Return the ids of a text that fit a parameter and look like the best one, in order."""
        ranked = [(rank, each.text) for rank, each in self._ranked(tool, parameter, said) if rank]
        _, best = max(ranked, key=lambda pair: pair[0], default=(0, ""))
        return [text for _, text in ranked if id_shape(text) == id_shape(best)]

    def _ranked(self, tool: Tool, parameter: Parameter, said: Utterance) -> list[tuple[int, Value]]:
        """Rate how well each id of a text fits a parameter; 0 where it does not."""
        # An id that nothing speaks for is taken where it is the only one, and nothing else's.
        is_only_slot = not any(
            p.required and p.is_id and p is not parameter for p in tool.parameters
        )
        ranked = list[tuple[int, Value]]()
        for value in (*said.ids, *(each for each in said.values if each.kind == "number")):
            rank = self._rank(parameter, tool.entity, value, said)
            if rank == 0 and value.kind != "number" and is_only_slot and len(said.ids) == 1:
                others = (each for each in self._id_parameters if each.name != parameter.name)
                rank = int(not any(self._rank(each, "", value, said) for each in others))
            ranked.append((rank, value))
        return ranked

    @cached_property
    def _id_parameters(self) -> tuple[Parameter, ...]:
        parameters = (each for tool in self.index.tools for each in tool.parameters if each.is_id)
        return tuple({each.name: each for each in parameters if each.entity}.values())

    def _rank(self, parameter: Parameter, entity: str, value: Value, said: Utterance) -> int:
        entity = parameter.entity or entity
        named = {stem(word) for word in entity.split("_")}
        before = words_in(said.text[max(0, value.start - 40) : value.start])[-3:]
        after = words_in(said.text[value.end : value.end + 25])[:1]
        is_named = any(stem(word) in named for word in before)
        if value.kind == "number":  # only right behind its word: "order 10023"
            return 3 * (is_named and value.text.isdigit())
        shape = id_shape(value.text)
        return (
            _prefix_fit(value.text, entity)
            + 3 * is_named
            + 2 * any(stem(word) in named for word in after)
            + 4 * (shape in parameter.examples or (parameter.name, shape) in self._known_shapes)
        )

    @cached_property
    def _known_shapes(self) -> frozenset[tuple[str, str]]:
        """Return the shapes of known ids, each with the name of its field."""
        rows = [
            row
            for fact in self.known.values()
            for row in (fact[:50] if isinstance(fact, list) else [fact])
            if isinstance(row, dict)
        ]
        fields = [field for row in rows for field in row.items()]
        return frozenset((name, id_shape(text)) for name, text in fields if isinstance(text, str))


def _prefix_fit(text: str, entity: str) -> int:
    """Rate how well the letters of an id stand for an entity: `ord`, `po` or `tkt`."""
    letters = re.match(r"#?([A-Za-z]+)", text)
    words = [word for word in entity.split("_") if word]
    if letters is None or not words:
        return 0
    prefix = letters.group(1).lower()
    if any(word.startswith(prefix) or prefix.startswith(word) for word in words):
        return 3 if len(prefix) > 1 else 2
    if prefix == "".join(word[0] for word in words):
        return 3
    in_order = re.compile(".*".join(prefix))
    return 2 if len(prefix) > 1 and any(in_order.match(word) for word in words) else 0


def typed_id(parameter: Parameter, texts: Sequence[str]) -> Json:
    """Return ids as a parameter wants them: all as a list, or the first, a number where asked."""
    if parameter.kind == "array":
        return list(dict.fromkeys(texts))
    plain = texts[0].lstrip("#")
    if parameter.kind in {"integer", "number"} and plain.isdigit() and len(plain) < 19:
        return int(plain)
    return plain if plain.isdigit() else texts[0]
