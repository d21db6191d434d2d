"""Reads a request in plain English, or AgentBeats JSON, without a model.

Its rules:

1. Nothing is added. Participants are only the addresses and bundled agents that the text names as
   agents; domains and numbers of trials are only those in the text. An adjective is not a domain
   ("the shop agent" names none).
2. A domain without a number, or with "all", means all tasks of the split; a number means a sample,
   and "the first" with a number the first of the split.
3. The reader does not choose for the user. A phrase with two readings of different cost is refused
   as `ambiguous`, conflicting values and retractions as `contradiction`, and a wish that no plan
   can express as `unsupported`.
4. A misspelled domain is corrected if one letter (two in long names) leads to exactly one domain.
   Every correction is a warning.
5. A request with orders to disregard rules, fix results or give away secrets is refused as
   `injection` (see `adk_agent.requests.reading.orders`). An address that is named for another
   reason than to be evaluated is not contacted, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from adk_agent.core.plan import EvaluationRequest
from adk_agent.requests.agentbeats import find_json, read_agentbeats
from adk_agent.requests.reading.addresses import AGENT_MARK, Addresses, find_addresses
from adk_agent.requests.reading.asides import without_asides
from adk_agent.requests.reading.domains import no_domain, refuse_unknown_domains, with_known_domains
from adk_agent.requests.reading.numbers import with_digits
from adk_agent.requests.reading.options import Options, take_options, take_user_model
from adk_agent.requests.reading.orders import (
    not_an_evaluation,
    refuse_injection,
    refuse_other_languages,
    refuse_other_orders,
    refuse_unsupported,
)
from adk_agent.requests.reading.registered import record_with_addresses, with_addresses
from adk_agent.requests.reading.tasks import read_tasks, refuse_choices
from adk_agent.requests.reading.tokens import ID_MARK, take_literal_ids
from adk_agent.requests.reading.vocabulary import Vocabulary
from adk_agent.requests.reading.words import BUNDLED_AGENTS
from adk_agent.requests.refusal import Refusal, RefusalCode

__all__ = ["BUNDLED_AGENTS", "Refusal", "RefusalCode", "Vocabulary", "read_request"]

_NOBODY: Mapping[str, str] = MappingProxyType({})
MAX_LENGTH = 8_000
"""Most characters of a sentence; JSON may be longer."""

_NEW_ITEM = r"\s*(?:[-*+•#>|]|[0-9]+[.)]\s|[\w*`][\w *`/-]{0,30}[:=]|`?https?://)"
_PLAIN = str.maketrans(
    {
        **dict.fromkeys("‘’ʼ", "'"),
        **dict.fromkeys('“”„«»"`*', " "),
        **dict.fromkeys("‐‑‒–−", "-"),
        "—": " - ",
        "\u00a0": " ",
        "\r": "\n",
        AGENT_MARK: " ",
        ID_MARK: " ",
    }
)
_LINE_BREAK = re.compile(r"(?<=[^\s:])[ \t]*\n(?=[ \t]*[^\s])(?!" + _NEW_ITEM + ")")
_EVALUATES = re.compile(
    r"\b(?:eval\w*|assess\w*|asses|test\w*|benchmark\w*|bench|scor\w+|judg\w+|check\w*|run|"
    r"try|rate|grade|compare|measur\w+|trials?)\b"
)
_HOST_LIKE = re.compile(r"\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b|\blocalhost\b|\bport\s+[0-9]+")


def read_request(
    text: str, registered: Mapping[str, str] = _NOBODY, *, vocabulary: Vocabulary
) -> EvaluationRequest:
    """Read the evaluation that a text asks for: AgentBeats JSON, or a sentence in English.

    JSON is the whole text, a fenced block in it, or an object with `participants` in it. Text
    around it is ignored, with a warning.

    Args:
        text: The request.
        registered: Addresses of registered agents, by name.
        vocabulary: The names that a sentence may use.

    Raises:
        Refusal: The text cannot be read; the message says what to write instead.
    """
    found = find_json(text, vocabulary)
    if found is not None:
        record = record_with_addresses(found.record, registered)
        return _read_record(record, found.around, vocabulary)
    if not text.strip():
        raise not_an_evaluation("it is empty", vocabulary)
    if len(text) > MAX_LENGTH:
        raise Refusal(
            "unsupported",
            f"the request has {len(text)} characters; a sentence may have {MAX_LENGTH}",
        )
    try:
        return _read_sentence(_plain(with_addresses(text, registered)), vocabulary)
    except ValidationError as exc:
        raise Refusal("bad-number", f"the request cannot be used: {exc}") from exc


def _plain(text: str) -> str:
    """Normalize quotes, dashes and spaces, and keep line breaks only between items."""
    joined = _LINE_BREAK.sub(" ", text.replace("\r\n", "\n")).translate(_PLAIN)
    return re.sub(r"[^\S\n]", " ", joined)


def _read_record(
    record: Mapping[str, Any], around: str, vocabulary: Vocabulary
) -> EvaluationRequest:
    refuse_injection(_plain(around).lower(), vocabulary)
    request = read_agentbeats(record, vocabulary)
    if not around.strip():
        return request
    warning = "only the JSON was read, not the text around it"
    return request.model_copy(update={"warnings": (*request.warnings, warning)})


def _read_sentence(text: str, vocabulary: Vocabulary) -> EvaluationRequest:
    refuse_injection(text.lower(), vocabulary)
    refuse_other_languages(text.lower(), vocabulary)
    addresses = find_addresses(text, vocabulary)
    refuse_other_orders(addresses.text.lower(), vocabulary)
    rest, literal_ids = take_literal_ids(addresses.text)
    rest, user_llm = take_user_model(rest)
    rest, corrected = with_known_domains(rest.lower(), vocabulary)
    rest, repaired_numbers = with_digits(rest, vocabulary)
    rest = without_asides(rest, vocabulary)
    refuse_unsupported(rest, vocabulary)
    refuse_choices(rest, vocabulary)
    options = take_options(rest, vocabulary)
    refuse_unknown_domains(options.text, vocabulary)
    selections = read_tasks(options.text, literal_ids, options.split, vocabulary)
    _refuse_incomplete(addresses, options, vocabulary, domains=bool(selections))
    return EvaluationRequest(
        participants=addresses.participants,
        selections=selections,
        num_trials=options.num_trials,
        max_concurrency=options.max_concurrency,
        seed=options.seed,
        max_steps=options.max_steps,
        solo=options.solo,
        evaluation_type=options.evaluation_type,
        user_llm=user_llm,
        reasoning="Read by fixed rules: what the sentence names, and nothing else.",
        warnings=(*addresses.warnings, *corrected, *repaired_numbers),
    )


def _refuse_incomplete(
    addresses: Addresses, options: Options, vocabulary: Vocabulary, *, domains: bool
) -> None:
    if addresses.participants and domains:
        return
    if addresses.participants:
        raise no_domain(options.text, vocabulary)
    if not domains and not _EVALUATES.search(options.text):
        raise not_an_evaluation("no agent and no domain are named", vocabulary)
    unused = f" ({'; '.join(addresses.warnings)})" if addresses.warnings else ""
    host = _HOST_LIKE.search(addresses.text.lower())
    hint = f"{host[0]!r} is not a complete address: " if host else ""
    raise Refusal(
        "no-agent",
        f"no agent is named to evaluate{unused}: {hint}give its address with http:// and port, "
        f"or a bundled agent such as builtin:null. For example: {vocabulary.example}",
    )
