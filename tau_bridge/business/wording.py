"""Wording: where a request means the domain of that name, and where a common word.

`on ten business tasks` and `on airline and business` name the domain, `for business reasons` and
`our business needs to know` do not: nothing is played that was not asked for.
"""

from __future__ import annotations

import re

from tau_bridge.business.scenarios import DOMAIN, scenarios
from tau_bridge.wording import TASK_NOUN, whole_id

_PROCESS = re.compile(rf"\b{DOMAIN}[\s-]+process(?:es)?\b")
_OTHER_USE = re.compile(
    rf"\b(?:(?:our|my|your|their|his|her|its|this|that|a|any|core|small|for)\s+{DOMAIN}\b"
    rf"(?!\s+(?:domain|{TASK_NOUN}|benchmark|suite)\b)"
    rf"|{DOMAIN}\b(?!\s*(?:[^\w\s'-]|$|[0-9]|\n))"
    rf"(?!\s+(?:domain|{TASK_NOUN}|benchmarks?|bench|suite|split|ones|and|or|with|using|once|twice|"
    r"thrice|at|in|on|from|against|please|only|alone|as|plus|for|by|to|then|but|now|too|each|"
    r"without|base|one|two|three|four|five|six|seven|eight|nine|ten|max|seed|again)\b))"
)
_SHORT_ID = re.compile(r"\bbp[0-9]+(?:_[a-z0-9_]+)?\b")


def with_business(text: str) -> str:
    """Return the lower-case text with the domain's name left only where it means the domain.

    Raises:
        WordingError: `bad-number` for a scenario that does not exist.
    """
    text = _PROCESS.sub(DOMAIN, text)
    text = _OTHER_USE.sub(lambda match: match[0].replace(DOMAIN, "company"), text)
    text = _SHORT_ID.sub(_whole_id, text)
    if DOMAIN not in text:
        text = _SHORT_ID.sub(lambda match: f"{DOMAIN} tasks {match[0]}", text, count=1)
    return text


def _whole_id(match: re.Match[str]) -> str:
    listing = f"greenroom list tasks --domain {DOMAIN}"
    return whole_id(match[0], scenarios(), what="scenario", shown_by=listing)
