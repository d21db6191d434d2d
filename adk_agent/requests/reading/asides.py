"""Asides: clauses that tell of something else than what is to be played now.

"It passed five shop tasks last week" names a domain and a number, and asks for neither.
"""

from __future__ import annotations

import re
from functools import lru_cache

from adk_agent.requests.reading.vocabulary import Vocabulary
from adk_agent.requests.reading.words import alternatives

_CLAUSE = re.compile(
    r"(?<=[,;()\n])|(?<=[.!?])(?=\s)|(?=\b(?:just\s+like|like\s+(?:we|last|the|in|with|i)|as\s+"
    r"(?:we|with|i|in)|unlike|because|since|although|though|which|who|so|but|then|after\s+we|"
    r"even\s+though)\b)"
)
_TOLD = re.compile(
    r"\b(?:did|was|were|had|been|already|previously|earlier|yesterday|ago|works?|worked|used\s+to|"
    r"unlike|later|afterwards|tomorrow|soon|"
    r"(?:last|next)\s+(?:week|month|time|night|year|run|evaluation|sprint|quarter)|"
    r"(?:we|i|it|they|he|she|that|which|who|agent|has|have)\s+(?:\w+ly\s+|just\s+)?"
    r"(?:passed|failed|ran|scored|tested|played|got|solved))\b"
)
_ASKED = re.compile(
    r"\b(?:evaluate|test|play|run|assess|asses|benchmark|bench|score|judge|check|try|compare|rate|"
    r"grade|measure|repeat|please|should|must|want|need|can\s+you|could|let|use|give|now|take|eval|"
    r"to\s+be|i'd|would)\b"
)


@lru_cache
def _made_for(domains: tuple[str, ...]) -> re.Pattern[str]:
    domain = alternatives(domains)
    return re.compile(
        r"\b(?:built|trained|tuned|designed|made|meant|optimi[sz]ed|speciali[sz]ed|developed|written)\s+"
        rf"(?:on|for|with|from|in)\s+(?:the\s+)?{domain}\b"
        rf"(?:\s*(?:,|and|or)\s*(?:the\s+)?{domain}\b)*"
        r"(?:\s+(?:domains?|tasks?|data|customers?))?"
    )


def without_asides(text: str, vocabulary: Vocabulary) -> str:
    """A lower-case text without the clauses that tell of the past, of later, or of the agent.

    A clause is left out where it has a word of telling (`was`, `yesterday`, `later`) and none of
    asking (`evaluate`, `please`, `want`).
    """
    kept = []
    for clause in _CLAUSE.split(_made_for(vocabulary.domains).sub(" ", text)):
        told = _TOLD.search(clause) and not _ASKED.search(clause)
        ending = clause[-1:] if clause[-1:] in ",;()\n.!?" else " "
        kept.append(f" . {ending}" if told else clause)
    return "".join(kept)
