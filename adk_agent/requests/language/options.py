"""Options: reads values of a benchmark's options out of a text, such as an attack by its name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin

from adk_agent.requests.language.phrases import Sentence
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal
from tau_bridge.benchmark import Benchmark


def take_options(text: str, vocabulary: Vocabulary) -> tuple[str, dict[str, Any]]:
    """Blank the values of options that stand beside the option's name; return the text and them.

    Raises:
        Refusal: `unsupported` for a value that the benchmark is known to lack.
    """
    options: dict[str, Any] = {}
    for benchmark in vocabulary.named_in(text):
        known = _known(benchmark)
        for name in {**known, **benchmark.other_values}:
            lacking = benchmark.other_values.get(name, {})
            for value in sorted((*lacking, *known.get(name, ())), key=len, reverse=True):
                if value in lacking:
                    if _said(value, name).search(text):
                        raise _lacking(benchmark, name, value)
                    continue
                for match in _said(value, name).finditer(text):
                    start, end = match.span(match.lastgroup or 0)
                    text = text[:start] + " " * (end - start) + text[end:]
                    options[name] = value
    return text, options


def refuse_unknown_values(sentence: Sentence, vocabulary: Vocabulary) -> None:
    """Refuse an unknown word before the name of an option: `with the gradient attack`."""
    for benchmark in vocabulary.named_in(sentence.text):
        for name in {**_known(benchmark), **benchmark.other_values}:
            form = f"(with|using|by|under|the|a|an) (the|a|an)* (I|W (W)?) ({name}|{name}s)"
            for found in sentence.find(form):
                named = sentence.of_kind("id", found)
                unknown = named + [index for index in found[:-1] if sentence.is_unknown(index)]
                if unknown:
                    raise _lacking(benchmark, name, sentence.said(unknown))


def _known(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    """Return the values of each option that is one of a few texts."""
    fields = benchmark.options_type.model_fields.items()
    return {
        name: get_args(field.annotation)
        for name, field in fields
        if get_origin(field.annotation) is Literal
    }


def _said(value: str, name: str) -> re.Pattern[str]:
    """Return the pattern of a value before or after the name of its option, in quotes or not.

    Alone, a value counts where the name is its last word, or where programs write it so after a
    word such as `with`.
    """
    words = r"[\s_-]+".join(map(re.escape, value.split("_")))
    forms = [
        rf"(?P<before>\b{words}\b)(?:\s\w+)?\W{{1,3}}{name}s?\b",
        rf"\b{name}(?:[\s_-]config(?:uration)?)?\W{{1,3}}(?P<after>{words}\b)",
    ]
    if value.endswith(f"_{name}"):
        forms.append(rf"(?P<whole>\b{words}\b)")
    elif "_" in value:
        forms.append(rf"\b(?:with|using|by|via)\W{{1,3}}(?P<written>{re.escape(value)}\b)")
    return re.compile("|".join(forms), re.IGNORECASE)


def _lacking(benchmark: Benchmark, name: str, value: str) -> Refusal:
    known: Iterable[str] = _known(benchmark).get(name, ())
    instead = f"write {' or '.join(map(repr, known))}, or leave it out" if known else "leave it out"
    why = benchmark.other_values.get(name, {}).get(value, "")
    return Refusal(
        "unsupported",
        f"{benchmark.name} has no {name} {value!r} here{f' ({why})' if why else ''}: {instead}",
    )
