"""Registered agents: the names that stand for addresses in a request.

A registered name has a hyphen and a part that means nothing to this reader, so it cannot be a word
of the sentence: wherever it appears, the agent is meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adk_agent.requests.agents import AGENTS_IN_WORDS, BUNDLED_TEAMS
from adk_agent.requests.language.lexicon import words
from adk_agent.requests.language.vocabulary import COMMON_SPLITS, Vocabulary

NAME_RULE = "lower-case letters and digits in parts with hyphens between, for example 'shop-bot'"
MAX_NAME = 40
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_MEANING = frozenset((*COMMON_SPLITS, *AGENTS_IN_WORDS, *BUNDLED_TEAMS)) | (
    words(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy "
        "eighty ninety hundred thousand million dozen half single pair first num number max "
        "maximum min least most at a time seed seeds step steps trial trials task tasks "
        "scenario problem instance sample run runs attempt repetition each every all any both "
        "other agent agents participant baseline team teams member bundled built in builtin "
        "reference user users llm model judge solo mode action actions only type evaluation "
        "split concurrency concurrent parallel limit pass exercise once twice thrice per with "
        "without and or not no the an on for of to by is domain domains shard shards index id "
        "ids entry config offline service a2a green"
    )
)


def unusable_name(name: str, vocabulary: Vocabulary) -> str | None:
    """Say why an agent cannot have this name; None if it can."""
    if len(name) > MAX_NAME:
        return f"it has {len(name)} characters, and {MAX_NAME} are allowed"
    if not _NAME.fullmatch(name):
        return f"write {NAME_RULE}"
    meaning = {*_MEANING, *vocabulary.domains}
    if all(part in meaning or part.isdigit() for part in name.split("-")):
        return "it means something else in a request; include a word of your own"
    return None


def with_addresses(text: str, registered: Mapping[str, str]) -> str:
    """Replace the registered names in a sentence, in upper or lower case, with their addresses.

    A name stays if the sentence contains its address too, as in "register URL as shop-bot": the
    agent is already named.
    """
    if not registered:
        return text
    pattern = re.compile(
        rf"(?<![\w./:@=+\-])(?P<quote>['\"`]?)(?P<name>{'|'.join(map(re.escape, sorted(registered, key=len, reverse=True)))})(?P=quote)"
        r"(?![\w/:@+\-]|\.\w)",
        re.IGNORECASE,
    )

    def meant(match: re.Match[str]) -> str:
        address = registered[match["name"].lower()]
        return match[0] if address.rstrip("/") in text else address

    return pattern.sub(meant, text)


def record_with_addresses(
    record: Mapping[str, Any], registered: Mapping[str, str]
) -> Mapping[str, Any]:
    """Replace registered names among the participants of AgentBeats JSON with their addresses."""
    participants = record.get("participants")
    if not registered or not isinstance(participants, dict):
        return record
    named = {role: address_of(value, registered) for role, value in participants.items()}
    return {**record, "participants": named}


def address_of(value: Any, registered: Mapping[str, str]) -> Any:
    """Return the address of a registered name, and anything else unchanged."""
    return registered.get(value.strip().lower(), value) if isinstance(value, str) else value
