"""Teamwork: what a sentence says about coordination, in the words of tasks and domains.

`how the team coordinates on 3 exercises` becomes `... on 3 coordination tasks`, which the readers
of domains and tasks understand like any other domain.
"""

from __future__ import annotations

import re

from adk_agent.plan import COORDINATION

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


def with_coordination(text: str) -> str:
    """The lower-case text with exercises and teamwork called by the name of their domain."""
    text = _EXERCISES.sub(
        lambda match: f"{COORDINATION} task{'s' if match['several'] else ''}", text
    )
    text = _NOUN.sub(COORDINATION, text)
    named = COORDINATION in text
    return _VERB.sub(
        lambda match: match["who"] if named else f"{match['who']} on {COORDINATION} ", text
    )
