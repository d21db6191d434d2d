"""Asides: removes clauses that are not about this evaluation.

"It passed five shop tasks last week" names a domain and a number, but asks for neither.
"""

from __future__ import annotations

import re

from adk_agent.requests.reading.vocabulary import Vocabulary

_CLAUSE = re.compile(
    r"(?<=[,;()\n])|(?<=[.!?])(?=\s)|(?=\b(?:just\s+like|like\s+(?:we|last|the|in|with|i)|as\s+"
    r"(?:we|with|i|in)|unlike|because|since|although|though|which|who|so|but|then|after\s+we|"
    r"even\s+though)\b)"
)
_REPORTS = re.compile(
    r"\b(?:did|was|were|had|been|already|previously|earlier|yesterday|ago|works?|worked|used\s+to|"
    r"unlike|later|afterwards|tomorrow|soon|"
    r"(?:last|next)\s+(?:week|month|time|night|year|run|evaluation|sprint|quarter)|"
    r"(?:we|i|it|they|he|she|that|which|who|agent|has|have)\s+(?:\w+ly\s+|just\s+)?"
    r"(?:passed|failed|ran|scored|tested|played|got|solved))\b"
)
_ASKS = re.compile(
    r"\b(?:evaluate|test|play|run|assess|asses|benchmark|bench|score|judge|check|try|compare|rate|"
    r"grade|measure|repeat|please|should|must|want|need|can\s+you|could|let|use|give|now|take|eval|"
    r"to\s+be|i'd|would)\b"
)
_MADE_FOR = (
    r"\b(?:built|trained|tuned|designed|made|meant|optimi[sz]ed|speciali[sz]ed|developed|written)\s+"
    r"(?:on|for|with|from|in)\s+(?:the\s+)?DOMAIN\b"
    r"(?:\s*(?:,|and|or)\s*(?:the\s+)?DOMAIN\b)*"
    r"(?:\s+(?:domains?|tasks?|data|customers?))?"
)


def without_asides(text: str, vocabulary: Vocabulary) -> str:
    """Remove the clauses of a lower-case text that are about the past, the future, or the agent.

    A clause is removed if it has a reporting word (`was`, `yesterday`, `later`) and no asking word
    (`evaluate`, `please`, `want`).
    """
    kept = []
    for clause in _CLAUSE.split(vocabulary.pattern(_MADE_FOR).sub(" ", text)):
        is_aside = _REPORTS.search(clause) and not _ASKS.search(clause)
        ending = clause[-1:] if clause[-1:] in ",;()\n.!?" else " "
        kept.append(f" . {ending}" if is_aside else clause)
    return "".join(kept)
