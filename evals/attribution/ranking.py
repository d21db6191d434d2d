"""attribute: the ranking of agents and steps by the signs that were found. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from evals.attribution.cues import CUES, signs_of
from evals.attribution.model import MOST_CANDIDATES, Attribution, Candidate, Cue, Sign
from evals.attribution.signs import Found
from evals.attribution.turns import Log

WEIGHTS: Mapping[Cue, float] = {name: cue.weight for name, cue in CUES.items()}
FOLLOWS: Mapping[Cue, frozenset[Cue]] = {
    "declined": frozenset(("no_answer", "declined")),
    "unfounded": frozenset(("contradicts", "no_answer", "declined", "unfounded")),
    "wrong_value": frozenset(("contradicts", "no_answer", "declined", "unfounded", "wrong_value")),
    "unasked": frozenset(("no_answer", "declined", "unasked")),
    "repairs": frozenset(("no_answer", "declined")),
    "underived": frozenset(("no_answer", "declined")),
    "astray": frozenset(("no_answer", "declined")),
    "lost_value": frozenset(("no_answer", "declined", "lost_value")),
}
"""Signs that also follow from another before them: what is calculated from a wrong value is wrong."""
SAME: Mapping[Cue, Cue] = {"underived": "wrong_value"}
"""A cue, and one that says of the same figure again that it came from nowhere."""
CONSEQUENCE = 0.25
"""The share of its weight that such a sign keeps."""
LLM_CONFIRMED, LLM_NAMED = 6.0, 1.0
"""The weight of a step that a model names, and says that the outcome hung on it, or did not."""
SHOWS = 2.0
"""The least weight with which a sign shows a fault: less is left of what follows from another."""
FULL = 0.7
"""The least strength of a sign that others can follow from."""
NO_FAULT = "no step shows a fault, and some are only likelier than others"
"""Why nobody is named where candidates are weak."""


def attribute(
    log: Log,
    *,
    weights: Mapping[Cue, float] = WEIGHTS,
    most: int = MOST_CANDIDATES,
    signs: Sequence[tuple[Cue, Found]] | None = None,
) -> Attribution:
    """Rank the steps of a log by how likely each decided that its outcome is wrong.

    A step's score is the sum of its signs, each the weight of its cue times its strength. The
    earlier of two equal steps comes first. The agent is that of the first step.

    Args:
        log: What was said.
        weights: The weight of each cue.
        most: Candidates to return.
        signs: The signs of the log, if they are known already.
    """
    found: dict[tuple[int, str, str], list[Sign]] = defaultdict(list)
    for cue, sign, share in _with_consequences(signs_of(log) if signs is None else signs):
        turn = log.turns[sign.at]
        weight = round(weights.get(cue, 0.0) * sign.strength * share, 4)
        if weight > 0:
            found[sign.at, turn.agent, turn.step_id].append(
                Sign(cue=cue, weight=weight, reason=sign.reason, excerpt=sign.excerpt)
            )
    if not found:
        return Attribution(reason="no step shows a sign of what went wrong")
    candidates = [
        _candidate(agent, step_id, of_step)
        for (_, agent, step_id), of_step in sorted(found.items(), key=lambda each: each[0])
    ]
    found_first = ranked(candidates, most)
    weak = not shows_fault(found_first[0])
    reason = NO_FAULT if weak else None
    return Attribution(candidates=found_first, weak=weak, reason=reason)


def shows_fault(candidate: Candidate) -> bool:
    """Tell whether a sign of a step shows a fault, and not only where one is likely."""
    return any(CUES[s.cue].shows and s.weight >= SHOWS for s in candidate.signs if s.cue != "llm")


def ranked(candidates: Sequence[Candidate], most: int = MOST_CANDIDATES) -> tuple[Candidate, ...]:
    """Return the candidates with the highest scores first; equal ones keep their order."""
    return tuple(sorted(candidates, key=lambda each: -each.score)[:most])


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


def _strongest(signs: Sequence[Sign]) -> tuple[Sign, ...]:
    """Return the strongest sign of each cue: ten wrong values are one mistake.

    Of two cues that see the same in a figure only one counts.
    """
    found: dict[Cue, Sign] = {}
    for sign in signs:
        if sign.cue not in found or sign.weight > found[sign.cue].weight:
            found[sign.cue] = sign
    for cue, same in SAME.items():
        if cue in found:
            found.pop(same, None)
    return tuple(sorted(found.values(), key=lambda sign: -sign.weight))


def _candidate(agent: str, step_id: str, signs: Sequence[Sign]) -> Candidate:
    kept = _strongest(signs)
    score = round(sum(sign.weight for sign in kept), 4)
    return Candidate(agent=agent, step_id=step_id, score=score, signs=kept)
