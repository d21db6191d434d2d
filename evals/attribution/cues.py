"""CUES: every cue with its weight, in one table. Pure.

A cue yields the places of turns with the strength of the sign, 0 to 1, and its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from evals.attribution import additions, answers, faults, hints, repairing
from evals.attribution.model import Cue
from evals.attribution.signs import Found
from evals.attribution.turns import Log


@dataclass(frozen=True, kw_only=True)
class _Cue:
    find: Callable[[Log], Iterator[Found]]
    weight: float
    shows: bool = True
    """True if it shows a fault by itself, and not only where one is likely."""


CUES: Mapping[Cue, _Cue] = MappingProxyType(
    {
        "no_answer": _Cue(find=faults.no_answer, weight=7.0),
        "declined": _Cue(find=faults.declined, weight=5.5),
        "contradicts": _Cue(find=faults.contradicts, weight=5.0),
        "miscalculated": _Cue(find=answers.miscalculated, weight=5.0),
        "lost_value": _Cue(find=answers.lost_value, weight=4.0),
        "departure": _Cue(find=faults.departure, weight=4.0),
        "underived": _Cue(find=answers.underived, weight=3.5),
        "astray": _Cue(find=answers.astray, weight=3.5),
        "unfounded": _Cue(find=faults.unfounded, weight=3.5),
        "repairs": _Cue(find=repairing.repairs, weight=4.5),
        "unasked": _Cue(find=additions.unasked, weight=3.0),
        "wrong_value": _Cue(find=answers.wrong_value, weight=2.5, shows=False),
        "plan_gap": _Cue(find=hints.plan_gap, weight=2.0, shows=False),
        "new_values": _Cue(find=hints.new_values, weight=1.0, shows=False),
        "invented": _Cue(find=hints.invented, weight=1.0, shows=False),
        "first_result": _Cue(find=hints.first_result, weight=0.6, shows=False),
        "rare_worker": _Cue(find=hints.rare_worker, weight=0.6, shows=False),
        "last_result": _Cue(find=hints.last_result, weight=0.3, shows=False),
        "failing_run": _Cue(find=hints.failing_run, weight=0.2, shows=False),
        "unsure": _Cue(find=hints.unsure, weight=0.2, shows=False),
    }
)
"""Every cue with its weight, the strongest first."""


def signs_of(log: Log) -> Sequence[tuple[Cue, Found]]:
    """Return all signs of a log."""
    return [(name, found) for name, cue in CUES.items() for found in cue.find(log)]
