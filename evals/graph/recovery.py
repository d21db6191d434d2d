"""Recovery: failed calls that a later call made good."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict

from evals.graph.interactions import Call, Interactions
from evals.graph.memoize import memoize
from evals.graph.nesting import spans_of
from evals.graph.repeats import Asked, asked_by, inner_steps


@memoize
def recovered_calls(team: Interactions) -> tuple[Call, ...]:
    """List the failed calls that a later call made good, in order.

    The later call asks the same of the same callee, succeeds, is not below the failed one, and
    begins when that one has ended, at the same microsecond at the earliest. Where the end of the
    failed call or the start of the other is unknown, their order alone decides.
    """
    asked = asked_by(team)
    first, behind = spans_of(team)
    timed: dict[Asked, _Successes] = defaultdict(_Successes)
    untimed: dict[Asked, _Successes] = defaultdict(_Successes)
    recovered = []
    for call in reversed(inner_steps(team)):
        what = asked[call.index]
        if what is None:
            continue
        inside = range(first[call.index], behind[call.index])
        if call.failed:
            if timed[what].any_outside(inside, since=call.end_us) or untimed[what].any_outside(
                inside
            ):
                recovered.append(call)
        elif call.start_us is None:
            untimed[what].add(inside.start)
        else:
            timed[what].add(inside.start, begin=call.start_us)
    return tuple(reversed(recovered))


class _Successes:
    """Successful calls that ask the same, the latest first, as numbers counted depth first.

    Beside each stand the lowest and the highest number up to there. They tell whether one lies
    outside a span without a look at each: a trace may hold very many calls that ask the same.
    """

    def __init__(self) -> None:
        self._begins: list[int] = []
        """Negated, so that they ascend."""
        self._lowest: list[int] = []
        self._highest: list[int] = []

    def add(self, number: int, *, begin: int = 0) -> None:
        """Add a call that begins no later than all before."""
        self._begins.append(-begin)
        self._lowest.append(min([number, *self._lowest[-1:]]))
        self._highest.append(max([number, *self._highest[-1:]]))

    def any_outside(self, span: range, *, since: int | None = None) -> bool:
        """Check whether one lies outside a span of numbers and begins at `since` or later."""
        last = (len(self._begins) if since is None else bisect_right(self._begins, -since)) - 1
        return last >= 0 and (self._lowest[last] < span.start or self._highest[last] >= span.stop)
