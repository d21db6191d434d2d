"""attribute: the ranking of agents and steps by the signs that were found. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from evals.attribution.cues import CUES, signs_of
from evals.attribution.model import MOST_CANDIDATES, Attribution, Candidate, Cue, Sign
from evals.attribution.turns import Log

WEIGHTS: Mapping[Cue, float] = {name: cue.weight for name, cue in CUES.items()}


def attribute(
    log: Log, *, weights: Mapping[Cue, float] = WEIGHTS, most: int = MOST_CANDIDATES
) -> Attribution:
    """Rank the steps of a log by how likely each decided that its outcome is wrong.

    A step's score is the sum of its signs, each the weight of its cue times its strength; an
    agent's the sum over its steps. The earlier of two equal steps comes first.
    """
    if len(log.agents) < 2:
        return Attribution(reason="only one agent took part, so there is nobody to choose between")
    found: dict[tuple[int, str, str], list[Sign]] = defaultdict(list)
    for cue, sign in signs_of(log):
        turn = log.turns[sign.at]
        weight = round(weights.get(cue, 0.0) * sign.strength, 4)
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
    return Attribution(candidates=tuple(candidates[:most]), agents=_by_agent(candidates))


def _total(signs: Sequence[Sign]) -> float:
    return round(sum(sign.weight for sign in signs), 4)


def _by_agent(candidates: Sequence[Candidate]) -> dict[str, float]:
    sums: dict[str, float] = defaultdict(float)
    for each in candidates:
        sums[each.agent] += each.score
    return {a: round(s, 4) for a, s in sorted(sums.items(), key=lambda item: -item[1])}
