"""refusal_in: the words with which a reply gives nothing of what was asked for. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from evals.attribution.values import dates_in, numbers_in

INABILITY = re.compile(
    r"\b(?:can ?not|can['’]t|could not|couldn['’]t|unable to|not able to|won['’]t|will not|"
    r"refus(?:e|es|ing) to|declin(?:e|es|ing) to|must (?:decline|refuse)|rather not|denied|"
    r"do(?:es)? not have access|don['’]t have access|no answer|outside (?:my|our)|not my job|"
    r"not (?:possible|allowed|permitted|available|found)|sorry|I (?:don['’]t|do not) know)\b",
    re.IGNORECASE,
)
"""Words with which somebody says that something cannot be done, or is not known."""
# Further ones, which say so only in a short reply that holds nothing else.
_SHORT = re.compile(
    r"\b(?:n/?a|unknown|unavailable|declin(?:e|ed)|refused?|forbidden|rejected|impossible|"
    r"(?:un|not )(?:authori[sz]ed|supported)|outside (?:of )?(?:what|the|my|our)|beyond (?:my|our|the)|"
    r"no (?:access|records?|data|information|idea|permission|results?|entry|comment)|"
    r"(?:do|does|did|have|has|am|is|are)(?:n['’]t| not) (?:know|have|been able|aware|in a position|"
    r"do that|able|help|do this|answer|provide)|ask (?:somebody|someone) else|no longer able|"
    r"nothing (?:for you|on|to (?:give|offer|report|say|share))|(?:un|not )(?:reachable|responding)|"
    r"(?:does|did) not (?:respond|answer|open|load)|closed to (?:me|us)|quota (?:exceeded|reached|used up)|(?:is|are|be|went|seems?) (?:down|offline)|"
    r"try again later|timed? ?out|(?:has |have |it |call |query |request |lookup )failed|error(?=:|$|\.))\b",
    re.IGNORECASE,
)
# The same in German, Spanish and French.
_ELSEWHERE = re.compile(
    r"\b(?:leider|kann (?:ich |das |dazu )*nicht|wei(?:ß|ss) (?:ich )?nicht|keine?n? (?:\w+ )?"
    r"(?:angaben?|antwort|auskunft|daten|informationen|unterlagen|zugang|zugriff|eintr(?:ag|äge))|"
    r"liegt? (?:mir |uns )?nicht vor|nicht (?:bekannt|erreichbar|m(?:ö|oe)glich|verf(?:ü|ue)gbar|"
    r"zust(?:ä|ae)ndig|befugt|gefunden)|lo siento|no (?:puedo|podemos|pude|tengo|tenemos|dispongo|"
    r"consta|s[ée]|hay|responde|encuentro|es posible|est[áa] disponible)|desconozco|imposible|"
    r"d[ée]sol[ée]e?|ne (?:peux|puis|dispose|sais|suis) pas|n['’]ai (?:pas|aucune?)|aucune? "
    r"(?:donn[ée]e|information|acc[èe]s|r[ée]ponse)|impossible|indisponible)\b",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:error|fail\w*|denied|forbidden|unavailable|refused|rejected|declined|unauthori[sz]ed|"
    r"not[ _]\w+|no[ _]\w+|n/?a|unknown|none)\b",
    re.IGNORECASE,
)
_STATES = ("status", "state", "code", "type", "outcome")
_HTTP_ERROR = re.compile(
    r"\b[45]\d\d (?:Bad|Conflict|Forbidden|Gateway|Internal|Not|Request|Service|Too|Unauthori[sz]ed)\b"
)
SHORT_WORDS, COURTEOUS_WORDS = 30, 60
"""Words up to which a reply that holds no figure is short, and where all speak in turn."""


def is_unable(sentence: str) -> bool:
    """Tell whether a sentence says that something cannot be done, or is not known."""
    return INABILITY.search(sentence) is not None or _ELSEWHERE.search(sentence) is not None


def refusal_in(
    text: str, *, known: Collection[float] = (), most_words: int = SHORT_WORDS
) -> str | None:
    """Return the words of a reply that decline, or say that nothing is known; None without.

    Args:
        text: The reply.
        known: The figures that were given before, which a refusal may repeat.
        most_words: Words up to which a reply is short.
    """
    plain = text.strip()
    if plain.startswith("{"):
        return _of_json(plain)
    if len(plain.split()) > most_words:
        return None
    if _HTTP_ERROR.search(plain):
        return plain
    figures = numbers_in(plain)
    if dates_in(plain) or any(number not in known for number in figures):
        return None
    return plain if is_unable(plain) or (not figures and _SHORT.search(plain)) else None


def _of_json(text: str) -> str | None:
    """Read an object that has an error, a negative state, or nothing but empty values."""
    try:
        given = json.loads(text)
    except ValueError:
        return None
    if not isinstance(given, Mapping):
        return None
    negative = any(_is_negative(name.lower(), value) for name, value in given.items())
    holds = [
        value
        for name, value in given.items()
        if name.lower() not in (*_STATES, "message", "note", "reason", "error", "detail", "ok")
        and value not in (None, "", [], {})
    ]
    states = any(name.lower() in _STATES and value for name, value in given.items())
    return text if not holds and (negative or (given and not states)) else None


def _is_negative(name: str, value: Any) -> bool:
    if name in ("error", "errors"):
        return bool(value)
    if name in ("ok", "success"):
        return value is False
    return name in _STATES and isinstance(value, str) and bool(_NEGATIVE.search(value))
