"""Masking: removes ids and personal data from texts that outlive a conversation."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

MAX_CHARACTERS: Final = 2_000
"""Most characters of a text to remember; the rest is dropped before masking."""

_NAME = r"[A-ZÀ-ÖØ-Þ][\w'’\-]{1,40}"
_NAMES = rf"{_NAME}(?: {_NAME}){{0,3}}"
_STREETS = "Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Way|Place"

_RULES: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), mask)
    for pattern, mask in (
        (r"[^\s@<>]{1,80}@[^\s@<>]{1,80}\.\w{2,24}", "<email>"),
        (r"(?i:\bhttps?://|\bwww\.)[^\s<>]{1,500}", "<url>"),
        (
            r"(?i:\b(password|passcode|passphrase|pin|secret|token|api key|cvv|cvc)"
            r"( is|:|=| was) ?)[^\s<>]{1,200}",
            r"\1\2 <secret>",
        ),
        (r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "<id>"),
        (r"\b\d{1,3}(?:\.\d{1,3}){3}\b", "<id>"),
        (r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,8}(?: ?[A-Z0-9]{1,3})?\b", "<iban>"),
        (r"\b\d{4}-\d{1,2}-\d{1,2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b", "<date>"),
        (r"(?<![\w#+])\d{3}-\d{2}-\d{4}\b", "<ssn>"),
        (r"(?<![\w#+])\d{4}(?:[ \-]?\d{4}){2}[ \-]?\d{1,7}\b", "<card>"),
        (
            r"\+\d[\d ().\-/]{5,20}\d|(?<![\w#.,])\(?\d{2,4}\)?[ \-/.]\d{2,4}[ \-/.]\d{3,5}\b",
            "<phone>",
        ),
        (rf"\b\d{{1,5}} (?:{_NAME} ){{1,4}}(?:{_STREETS})\b\.?", "<address>"),
        (
            r"(\b(?i:my name is|i am|i'm|this is|named|called|mr|mrs|ms|dr|user|customer|employee|"
            rf"manager|colleague|for|from|with|to|by)\.? ){_NAMES}",
            r"\1<name>",
        ),
        (rf"\b{_NAME}(?: {_NAME}){{1,3}}\b", "<name>"),
    )
)
_TOKEN = re.compile(r"#?\w[\w\-]*")
_MANY_DIGITS = 5


def masked(text: str) -> str:
    """Replace ids and personal data in a text with their kind, such as `<email>`.

    It masks too much rather than too little: two capitalised words in a row count as a name.
    Amounts and numbers of up to four digits stay, because cases are about them.
    """
    plain = unicodedata.normalize("NFKC", text[:MAX_CHARACTERS])[:MAX_CHARACTERS]
    for pattern, mask in _RULES:
        plain = pattern.sub(mask, plain)
    return _TOKEN.sub(_without_id, plain)


def _without_id(token: re.Match[str]) -> str:
    """Return `<id>` for an id (digits with letters or `#`, or many digits), else the word."""
    text = token.group()
    digits = sum(map(str.isdigit, text))
    is_id = digits and (digits >= _MANY_DIGITS or text[0] == "#" or any(map(str.isalpha, text)))
    return "<id>" if is_id else text
