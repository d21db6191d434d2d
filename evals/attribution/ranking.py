"""attribute: the ranking of agents and steps by the signs that were found. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from evals.attribution.cues import CUES, Found, signs_of
from evals.attribution.model import MOST_CANDIDATES, Attribution, Candidate, Cue, Sign
from evals.attribution.turns import Log

WEIGHTS: Mapping[Cue, float] = {name: cue.weight for name, cue in CUES.items()}
FOLLOWS: Mapping[Cue, frozenset[Cue]] = {
    "declined": frozenset(("no_answer", "declined")),
    "unfounded": frozenset(("contradicts", "no_answer", "declined", "unfounded")),
    "wrong_value": frozenset(("contradicts", "no_answer", "declined", "unfounded", "wrong_value")),
}
"""Signs that also follow from another before them: what is calculated from a wrong value is wrong."""
CONSEQUENCE = 0.25
"""The share of its weight that such a sign keeps."""
FULL = 0.7
"""The least strength of a sign that others can follow from."""


def attribute(
    log: Log, *, weights: Mapping[Cue, float] = WEIGHTS, most: int = MOST_CANDIDATES
) -> Attribution:
    """Rank the steps of a log by how likely each decided that its outcome is wrong.

    A step's score is the sum of its signs, each the weight of its cue times its strength. The
    earlier of two equal steps comes first. The agent is that of the first step.
    """
    found: dict[tuple[int, str, str], list[Sign]] = defaultdict(list)
    for cue, sign, share in _with_consequences(signs_of(log)):
        turn = log.turns[sign.at]
        weight = round(weights.get(cue, 0.0) * sign.strength * share, 4)
        if weight > 0:
            found[sign.at, turn.agent, turn.step_id].append(
                Sign(cue=cue, weight=weight, reason=sign.reason, excerpt=sign.excerpt)
            )
    if not found:
        return Attribution(reason="no step shows a sign of what went wrong")
    ranked = sorted(found.items(), key=lambda each: (-_total(each[1]), each[0]))
    candidates = [
        Candidate(
            agent=agent,
            step_id=step_id,
            score=_total(signs),
            signs=tuple(sorted(signs, key=lambda sign: -sign.weight)),
        )
        for (_, agent, step_id), signs in ranked
    ]
    return Attribution(candidates=tuple(candidates[:most]))


def _with_consequences(
    signs: Sequence[tuple[Cue, Found]],
) -> Iterator[tuple[Cue, Found, float]]:
    """Yield each sign with the share of its weight that it keeps."""
    first: dict[Cue, int] = {}
    for cue, sign in signs:
        if sign.strength >= FULL:
            first[cue] = min(sign.at, first.get(cue, sign.at))
    for cue, sign in signs:
        causes = (first[each] for each in FOLLOWS.get(cue, ()) if each in first)
        follows = any(cause < sign.at for cause in causes)
        yield cue, sign, CONSEQUENCE if follows else 1.0


def _total(signs: Sequence[Sign]) -> float:
    """Return the sum of the strongest sign of each cue: ten wrong values are one mistake."""
    strongest: dict[Cue, float] = {}
    for sign in signs:
        strongest[sign.cue] = max(sign.weight, strongest.get(sign.cue, 0.0))
    return round(sum(strongest.values()), 4)
