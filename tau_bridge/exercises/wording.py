"""Wording: what a request says about coordination, in the words of tasks and domains.

`how the team coordinates on 3 exercises` becomes `... on 3 coordination tasks`, which is read like
the tasks of any other domain.
"""

from __future__ import annotations

import re

from tau_bridge.errors import WordingError
from tau_bridge.exercises.questions import DOMAIN, exercises
from tau_bridge.wording import whole_id

_EXERCISES = re.compile(
    r"\b(?:(?:team|teamwork|team-?work|co-?ordination|collaboration|group)[\s-]+)?"
    r"e(?:xc?|xs|c)[ei]r[cs]i[sc]e(?P<several>s?)\b"
)
_NOUN = re.compile(
    r"\b(?:co-?ordination|team-?work|collaboration|cooperation)(?:\s+(?:skills?|quality|ability|"
    r"behaviou?r|metrics|scores?|structure|patterns?))?\b"
)
_VERB = re.compile(
    r"\b(?:how|whether|if)\s+(?:well\s+)?(?P<who>[^.!?;\n]{0,120}?)\b(?:can\s+|do(?:es)?\s+)?"
    r"(?:co-?ordinat(?:es?|ing)|cooperat(?:es?|ing)|collaborat(?:es?|ing)|"
    r"works?\s+(?:well\s+)?together)\b(?:\s+(?:well|internally|with\s+each\s+other|"
    r"among\s+themselves))?"
)
_SHORT_ID = re.compile(r"\bex[0-9]+(?:_[a-z0-9_]+)?\b")
_ORDINAL = re.compile(
    r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last|next|[0-9]+(?:st|nd|"
    rf"rd|th))\s+{DOMAIN}\s+task\b(?!s)"
)


def with_coordination(text: str) -> str:
    """Put the domain's name for exercises and teamwork into a lower-case text.

    Raises:
        WordingError: `bad-number` for an exercise that does not exist, `ambiguous` for one that is
            named by its place.
    """
    text = _EXERCISES.sub(lambda match: f"{DOMAIN} task{'s' if match['several'] else ''}", text)
    text = _NOUN.sub(DOMAIN, text)
    ordinal = _ORDINAL.search(text)
    if ordinal:
        place = ordinal[0].split()[0]
        raise WordingError(
            "ambiguous", f"the {place} exercise: write its id, for example {_first_id()}"
        )
    text = _SHORT_ID.sub(_whole_id, text)
    if DOMAIN not in text:
        text = _SHORT_ID.sub(lambda match: f"{DOMAIN} tasks {match[0]}", text, count=1)
    named = DOMAIN in text
    return _VERB.sub(lambda match: match["who"] if named else f"{match['who']} on {DOMAIN} ", text)


def _whole_id(match: re.Match[str]) -> str:
    return whole_id(match[0], exercises(), what="exercise", shown_by="greenroom list exercises")


def _first_id() -> str:
    return next(iter(exercises()))
