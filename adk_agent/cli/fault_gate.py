"""The gates on injected faults: `--fail-under-faults` and `--fail-on-repeated-writes`."""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from adk_agent.cli import values
from adk_agent.cli.edge import GATE_FAILED, INCOMPLETE, OK
from adk_agent.cli.terminal import say
from adk_agent.core.errors import RequestError
from adk_agent.core.plan import EvaluationPlan

if TYPE_CHECKING:
    from adk_agent.results.report import EvaluationReport
    from adk_agent.results.robustness import FaultedTrial, RobustnessRow
    from adk_agent.results.summary import TaskKey, TrialRow

UNDER, REPEATED = "--fail-under-faults", "--fail-on-repeated-writes"
_Verdict = tuple[int, str]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    parser.add_argument(
        UNDER,
        type=values.share,
        metavar="SHARE",
        help="exit code 1 if an agent keeps less than this share of its pass^1 under the faults of "
        "--chaos, 0 to 1",
    )
    parser.add_argument(
        REPEATED,
        action="store_true",
        help="exit code 1 if an agent does a write again under the faults of --chaos",
    )


def require_faults(parsed: argparse.Namespace, plan: EvaluationPlan) -> None:
    """Check that a plan has the faults that the gates are about.

    Raises:
        RequestError: It has none, and a gate was asked for.
    """
    asked = [flag for flag, is_on in zip((UNDER, REPEATED), _asked(parsed), strict=True) if is_on]
    if asked and plan.chaos is None:
        raise RequestError(
            f"{' and '.join(asked)}: no faults are injected; add --chaos PROFILE, such as network"
        )


def fault_code(report: EvaluationReport, parsed: argparse.Namespace) -> int:
    """Return the exit code of the gates on faults, and print the reasons to stderr.

    Families that cannot be injected into an agent's trials are left out, and so are the floor and
    the ceiling agent beside others.

    Returns:
        1 if an agent keeps too little under the faults of a family, or repeated a write. 3 if none
        does, and of some agent and family it is not known. 0 otherwise, or without these gates.
    """
    under, repeated = _asked(parsed)
    held = {row.participant for row in report.score_rows}
    rows = [row for row in report.robustness if row.injectable and row.participant in held]
    codes = []
    if under:
        codes.append(_code(UNDER, rows, lambda row: _kept(report, row, parsed.fail_under_faults)))
    if repeated:
        codes.append(_code(REPEATED, rows, _repeated))
    return GATE_FAILED if GATE_FAILED in codes else max(codes, default=OK)


def _asked(parsed: argparse.Namespace) -> tuple[bool, bool]:
    given = vars(parsed)
    return given.get("fail_under_faults") is not None, bool(given.get("fail_on_repeated_writes"))


def _code(
    flag: str, rows: Sequence[RobustnessRow], judge: Callable[[RobustnessRow], _Verdict]
) -> int:
    found = []
    for row in rows:
        code, told = judge(row)
        say(
            f"greenroom: {flag}: {row.participant} in {row.domain} under {row.family}: {told}",
            file=sys.stderr,
        )
        found.append(code)
    if not rows:
        say(f"greenroom: {flag}: not decided: no fault could be injected", file=sys.stderr)
        return INCOMPLETE
    return GATE_FAILED if GATE_FAILED in found else max(found)


def _kept(report: EvaluationReport, row: RobustnessRow, bound: float) -> _Verdict:
    by = row.comparison
    if by is None:
        return INCOMPLETE, f"not decided: {row.reason}"
    if by.first == 0:
        return INCOMPLETE, "not decided: it passed nothing without faults either"
    least, most = _range(report, row)
    share = by.second / by.first
    told = (
        f"keeps {share:.3f} of its pass^1 ({by.second:.3f} of {by.first:.3f}, {row.pairs} trials, "
        f"p = {by.p_value:.3f})"
    )
    if least < bound <= most:
        return INCOMPLETE, f"not decided against {bound:g}: {told}; {_open(row)}"
    if most < bound:
        return GATE_FAILED, f"{told}, which is below {bound:g}"
    return OK, f"{told}, which reaches {bound:g}"


def _repeated(row: RobustnessRow) -> _Verdict:
    if row.repeated_writes:
        noun = "write" if row.repeated_writes == 1 else "writes"
        return GATE_FAILED, f"{row.repeated_writes} {noun} repeated"
    if row.repeated_writes is None:
        why = row.reason or "its calls of tools are not known"
        return INCOMPLETE, f"not decided: {why}"
    if row.without_score:
        return INCOMPLETE, f"not decided: {_open(row)}"
    return OK, "no write repeated"


def _range(report: EvaluationReport, row: RobustnessRow) -> tuple[float, float]:
    """Return the least and the most of its plain pass^1 that an agent may have kept.

    They differ where a trial has no score, which is then taken as passed and as not passed.
    """
    again = {play.row.key: play for play in _plays(report, row)}
    pairs: dict[TaskKey, list[tuple[float | None, float | None]]] = defaultdict(list)
    for plain in report.trials:
        if (plain.participant, plain.domain) != (row.participant, row.domain):
            continue
        play = again.get(plain.key)
        if play is None or play.faults:
            pairs[plain.task].append((_passed(plain), _passed(play.row if play else None)))
    return _share(pairs, plain=1.0, faulted=0.0), _share(pairs, plain=0.0, faulted=1.0)


def _share(
    pairs: dict[TaskKey, list[tuple[float | None, float | None]]], *, plain: float, faulted: float
) -> float:
    """Return mean under faults / mean plain over tasks, with these in place of scores not known."""
    first = fmean(fmean(plain if a is None else a for a, _ in each) for each in pairs.values())
    second = fmean(fmean(faulted if b is None else b for _, b in each) for each in pairs.values())
    return round(second / first, 9) if first else math.inf


def _passed(row: TrialRow | None) -> float | None:
    return float(row.passed) if row is not None and row.status == "scored" else None


def _plays(report: EvaluationReport, row: RobustnessRow) -> list[FaultedTrial]:
    return [
        play
        for play in report.faulted
        if play.family == row.family
        and (play.row.participant, play.row.domain) == (row.participant, row.domain)
    ]


def _open(row: RobustnessRow) -> str:
    return f"pairs of trials without two scores ({row.without_score}) leave it open"
