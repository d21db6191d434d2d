"""Checks a card against the schema of A2A, and against itself."""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from a2a.types import AgentCapabilities, AgentCard
from a2a.utils.errors import InvalidParamsError
from a2a.utils.proto_utils import validate_proto_required_fields

from tau_bridge.agent_check.findings import Finding, fails, ok, quote, warning

if TYPE_CHECKING:
    from tau_bridge.agent_check.card_answer import MisfitCardError, ParsedCard

_ESSENTIAL: Final = {"name", "supportedInterfaces"}
"""Fields without which no agent can be called."""
_LEGACY_FIELDS: Final = {"capabilities.stateTransitionHistory"}
"""Fields of protocol 0.3 that have no successor; the SDK translates the others."""
_FREE_FORM: Final = {"securitySchemes", "securityRequirements", "signatures"}
"""Fields whose two forms, of protocols 1.0 and 0.3, are often sent merged."""
_JSON_TYPES: Final[Mapping[int, type]] = {
    AgentCard.DESCRIPTOR.fields_by_name["name"].cpp_type: str,
    AgentCapabilities.DESCRIPTOR.fields_by_name["streaming"].cpp_type: bool,
}
_IN_WORDS: Final = {list: "a list", Mapping: "an object", str: "a text", bool: "true or false"}
_SNAKE: Final = re.compile(r"_([a-z])")


def check_card(parsed: ParsedCard) -> list[Finding]:
    """Return what is wrong with a card, one line each."""
    card = parsed.card
    found = [
        *_missing(card),
        *_unknown(parsed.converted),
        *_repeated(card),
        *_contradictions(card),
        *_modes(card),
        *_controls(parsed.sent),
    ]
    return found or [ok(_summary(card))]


def check_misfit(misfit: MisfitCardError) -> list[Finding]:
    """Return which fields of an object keep it from being a card."""
    found = list(_wrong_types(misfit.data, AgentCard.DESCRIPTOR, ""))
    found += [
        fails(f"{quote(name)} is missing", "no agent can be called without it: set it")
        for name in sorted(_ESSENTIAL - misfit.data.keys() - {"supportedInterfaces"})
    ]
    return [*found, *_unknown(misfit.data)] if found else [fails(str(misfit), "repair the card")]


def _wrong_types(value: Mapping[str, Any], message: Any, path: str) -> Iterator[Finding]:
    """Find the fields whose values are of another type of JSON than A2A's schema has."""
    fields = {name: each for each in message.fields for name in (each.json_name, each.name)}
    for name, inner in value.items():
        field, here = fields.get(name), f"{path}.{name}" if path else name
        if field is None or name in _FREE_FORM or inner is None:
            continue
        is_message = field.message_type is not None
        is_map = is_message and field.message_type.GetOptions().map_entry
        is_list = field.is_repeated and not is_map
        wanted = list if is_list else Mapping if is_message else _JSON_TYPES.get(field.cpp_type)
        if wanted is not None and not isinstance(inner, wanted):
            yield fails(
                f"{quote(here)} is {quote(json.dumps(inner), most=40)}",
                f"A2A's schema has {_IN_WORDS[wanted]} there",
            )
        elif is_message and not is_map and field.message_type.full_name.startswith("lf.a2a."):
            for each in inner if is_list else [inner]:
                if isinstance(each, Mapping):
                    yield from _wrong_types(each, field.message_type, here)
        elif is_list and not is_message and not all(isinstance(each, str) for each in inner):
            yield fails(f"{quote(here)} holds more than texts", "A2A's schema has texts there")


def _summary(card: AgentCard) -> str:
    skills = ", ".join(quote(skill.name, most=40) for skill in card.skills[:3])
    more = f" and {len(card.skills) - 3} more" if len(card.skills) > 3 else ""
    return f"{quote(card.name, most=60)}, version {quote(card.version, most=20)}; skills: {skills}{more}"


def _missing(card: AgentCard) -> Iterator[Finding]:
    for field in _missing_fields(card):
        name = _SNAKE.sub(lambda found: found[1].upper(), field)
        shown = "a name" if name == "name" else quote(name)
        if name in _ESSENTIAL:
            yield fails(f"{shown} is missing or empty", "no agent can be called without it: set it")
        else:
            yield warning(f"{shown} is missing or empty", "A2A requires it: set it")


def _missing_fields(card: AgentCard) -> list[str]:
    try:
        validate_proto_required_fields(card)
    except InvalidParamsError as exc:
        errors = cast("Mapping[str, Any]", exc.data)["errors"]
        return [error["field"] for error in errors]
    return []


def _unknown(converted: Mapping[str, Any]) -> Iterator[Finding]:
    for path, known in _unknown_fields(converted, AgentCard.DESCRIPTOR, ""):
        if path not in _LEGACY_FIELDS:
            near = difflib.get_close_matches(path.rpartition(".")[2], known, n=1)
            meant = f"did you mean {near[0]!r}?" if near else "remove it"
            yield warning(f"A2A has no field {quote(path)}", f"clients ignore it: {meant}")


def _unknown_fields(value: Any, message: Any, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the paths of fields that a message does not have, each with those that it has."""
    if not isinstance(value, Mapping):
        return
    fields = {name: each for each in message.fields for name in (each.json_name, each.name)}
    for name, inner in value.items():
        here = f"{path}.{name}" if path else name
        field = fields.get(name)
        if field is None:
            yield here, tuple(each.json_name for each in message.fields)
        elif field.message_type is not None and name not in _FREE_FORM:
            yield from _below(inner, field, here)


def _below(value: Any, field: Any, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    inner = field.message_type
    if inner is None or not inner.full_name.startswith("lf.a2a."):
        return  # a Struct of Google's, which may hold anything
    items = value if isinstance(value, list) else [value]
    for index, item in enumerate(items):
        here = f"{path}[{index}]" if isinstance(value, list) else path
        yield from _unknown_fields(item, inner, here)


def _repeated(card: AgentCard) -> Iterator[Finding]:
    for skill_id in _twice(skill.id for skill in card.skills):
        yield warning(f"two skills have the id {quote(skill_id)}", "give each an id of its own")
    interfaces = (
        f"{each.protocol_binding} {each.protocol_version} at {each.url}"
        for each in card.supported_interfaces
    )
    for interface in _twice(interfaces):
        yield warning(f"the interface {quote(interface)} is named twice", "name it once")


def _twice(values: Iterable[str]) -> list[str]:
    return [value for value, count in Counter(values).items() if count > 1 and value]


def _contradictions(card: AgentCard) -> Iterator[Finding]:
    needed = {name for each in card.security_requirements for name in each.schemes}
    for name in sorted(needed - set(card.security_schemes)):
        yield warning(
            f"the security requirement {quote(name)} is not among the securitySchemes",
            "declare the scheme, or drop the requirement",
        )
    if card.capabilities.extended_agent_card and not card.security_schemes:
        yield warning(
            "it declares an extended card for authenticated callers, and no way to authenticate",
            "declare securitySchemes, or drop the capability",
        )


def _modes(card: AgentCard) -> Iterator[Finding]:
    both = {"takes": card.default_input_modes, "sends": card.default_output_modes}
    for verb, modes in both.items():
        if modes and not any(mode.startswith(("text", "*/*")) for mode in modes):
            yield warning(
                f"by its card it {verb} no text, only {quote(', '.join(modes))}",
                "the messages of an evaluation are text/plain: add that mode",
            )


def _controls(sent: Any) -> list[Finding]:
    texts = {path: text for path, text in _texts(sent) if not _is_plain(text)}
    return [
        warning(f"{quote(path)} holds control characters", "write plain text: terminals obey them")
        for path in texts
    ]


def _texts(sent: Any) -> Iterator[tuple[str, str]]:
    """Yield every text with its path. Without recursion, for a card may be nested deeply."""
    waiting = [("", sent)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, Mapping):
            waiting += [(f"{path}.{key}".lstrip("."), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{path}[{index}]", inner) for index, inner in enumerate(value)]


def _is_plain(text: str) -> bool:
    return all(mark >= " " or mark in "\n\t\r" for mark in text) and "\x7f" not in text
