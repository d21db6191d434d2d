"""Identifiers: which of the ids in a text is meant for which parameter of a tool."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from purple_agent.case import Json
from purple_agent.reasoners.deterministic.index import Parameter, Tool
from purple_agent.reasoners.deterministic.said import Said
from purple_agent.reasoners.deterministic.values import Found, id_form, values_in
from purple_agent.reasoners.deterministic.words import stem, words_in


def ids_in(tool: Tool, said: Said, known: Mapping[str, Json], *, least: int) -> dict[str, Json]:
    """Ids given to the parameters that they fit best, each to one.

    Args:
        tool: Whose parameters.
        said: The text.
        known: Facts, for the forms of ids.
        least: How well an id has to fit; 1 lets the only one of a text fill the only open slot.
    """
    wanted = [each for each in tool.parameters if each.is_id and not each.choices]
    offers = sorted(
        (
            (-_affinity(parameter, tool, value, said, known), number, value.start, parameter, value)
            for number, parameter in enumerate(wanted)
            for value in (*said.ids, *_bare_numbers(parameter, tool, said))
        ),
        key=lambda offer: offer[:3],
    )
    filled: dict[str, Json] = {}
    taken: set[str] = set()
    for rank, _, _, parameter, value in offers:
        if -rank >= least and parameter.name not in filled and value.text not in taken:
            fitting = (
                [other.text for r, _, _, p, other in offers if p is parameter and r == rank]
                if parameter.kind == "array"
                else [value.text]
            )
            filled[parameter.name] = typed_id(parameter, fitting)
            taken.update(fitting)
    return filled


def ids_for(tool: Tool, parameter: Parameter, said: Said, known: Mapping[str, Json]) -> list[str]:
    """All ids of a text that fit a parameter equally well, in order: several things in one."""
    offers = (*said.ids, *_bare_numbers(parameter, tool, said))
    rated = [(_affinity(parameter, tool, each, said, known), each) for each in offers]
    best = max((rank for rank, _ in rated), default=0)
    shape = next((id_form(each.text) for rank, each in rated if rank == best), "")
    return [
        each.text for rank, each in rated if best > 0 and rank > 0 and id_form(each.text) == shape
    ]


def _bare_numbers(parameter: Parameter, tool: Tool, said: Said) -> Iterable[Found]:
    """Plain numbers right behind the word for the entity: "order 10023"."""
    for value in said.values:
        before = words_in(said.text[max(0, value.start - 30) : value.start])[-2:]
        if value.kind == "number" and value.text.isdigit() and _names(parameter, tool, before):
            yield value


def typed_id(parameter: Parameter, texts: Sequence[str]) -> Json:
    """Ids as a parameter wants them: a list of all, or the first one, a number where it must be."""
    if parameter.kind == "array":
        return list(dict.fromkeys(texts))
    if parameter.kind in {"integer", "number"}:
        digits = texts[0].lstrip("#")
        return int(digits) if digits.isdigit() and len(digits) < 19 else texts[0]
    text = texts[0]
    return text[1:] if text[0] == "#" and text[1:].isdigit() else text


def _affinity(
    parameter: Parameter, tool: Tool, value: Found, said: Said, known: Mapping[str, Json]
) -> int:
    """How well an id fits a parameter; 0: it does not."""
    letters = re.match(r"#?([A-Za-z]*)", value.text)
    prefix = letters.group(1).lower() if letters else ""
    entity = parameter.entity or tool.entity
    total = _prefix_fit(prefix, entity)
    before = words_in(said.text[max(0, value.start - 40) : value.start])[-3:]
    after = words_in(said.text[value.end : value.end + 25])[:1]
    total += 3 * _names(parameter, tool, before) + 2 * _names(parameter, tool, after)
    total += 4 * _shown_as(parameter.name, value.text, known)
    total += 3 * (id_form(value.text) in _examples(parameter))
    others = [each for each in tool.parameters if each.is_id and each is not parameter]
    if total == 0 and not any(each.required for each in others) and len(said.ids) == 1:
        return int(not _foreign(prefix, before, tool))
    return total


def _prefix_fit(prefix: str, entity: str) -> int:
    words = [word for word in entity.split("_") if word]
    if not prefix or not words:
        return 0
    if any(word.startswith(prefix) or prefix.startswith(word) for word in words):
        return 3 if len(prefix) > 1 else 2
    if prefix == "".join(word[0] for word in words):
        return 3
    return 2 if any(_is_abbreviation(prefix, word) for word in words) else 0


def _is_abbreviation(prefix: str, word: str) -> bool:
    """Whether the letters come in this order in the word, beginning with its first: `tkt`."""
    if len(prefix) < 2 or prefix[0] != word[0]:
        return False
    rest = iter(word)
    return all(letter in rest for letter in prefix)


def _foreign(prefix: str, before: Sequence[str], tool: Tool) -> bool:
    """Whether an id is rather one of something else: by its letters, or the word before it."""
    named = {stem(word) for word in before[-1:]}
    return any(
        _prefix_fit(prefix, rival) or named & {stem(word) for word in rival.split("_")}
        for rival in tool.rivals
    )


def _names(parameter: Parameter, tool: Tool, around: Sequence[str]) -> bool:
    entity = parameter.entity or tool.entity
    stems = {stem(word) for word in entity.split("_") if word}
    return any(stem(word) in stems for word in around)


def _examples(parameter: Parameter) -> frozenset[str]:
    given = parameter.schema.get("examples")
    listed = [str(each) for each in given[:5]] if isinstance(given, list) else []
    found = [
        each.text for each in values_in(parameter.description) if each.kind in {"id", "quoted"}
    ]
    return frozenset(id_form(text) for text in (*listed, *found))


def _shown_as(name: str, text: str, known: Mapping[str, Json]) -> bool:
    """Whether something known has an id of this form under this name."""
    shape = id_form(text)
    for fact in known.values():
        rows = fact[:50] if isinstance(fact, list) else [fact]
        for row in rows:
            shown = row.get(name) if isinstance(row, dict) else None
            if isinstance(shown, str) and id_form(shown) == shape:
                return True
    return False
