"""Faults of simulated users in a run, and the scores with and without the trials that have one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from adk_agent.core.plan import EvaluationPlan
from adk_agent.results.summary import Row, TrialKey, TrialRow, ends, mean, span
from evals.reward import pass_hat_k_by_task
from evals.statistics import Interval, interval_of_mean
from evals.user_check import FaultKind

MOST_FAULTS_SHOWN = 10
"""Faults that are quoted of a run; all are in the rows of its trials."""
KIND_WORDS: Mapping[FaultKind, str] = {
    "revealed": "revealed its instructions",
    "invented": "invented a value",
    "condition": "broke an order",
    "left_early": "left early",
    "agent_work": "spoke as the agent",
}


USERS_LEGEND = (
    "Every trial was checked, whether it passed or not. The scores above count all trials, those with "
    "a fault of the user too; plays that were set aside and repeated count nowhere above."
)


class UserScore(Row):
    """The pass^1 over some trials; failed ones count as not passed, as at its low end elsewhere."""

    tasks: int
    trials: int
    pass_1: float | None
    """None if no trial has a score."""
    interval: Interval | None


class UserRow(Row):
    """The simulated users of one participant's trials in one domain, where a model played them.

    Every trial is checked, whether it passed or not. No score of the report leaves one out.
    """

    participant: str
    domain: str
    user: str
    checked: int
    """Trials whose user was checked."""
    with_fault: int
    """Trials that count although their user had a proven fault."""
    possible: int
    """Trials with nothing but possible faults; they count for nothing."""
    kinds: dict[str, int]
    """Trials with a proven fault, by kind; one with several counts for each."""
    repeated: int
    """Plays that were set aside and played again."""
    score: UserScore
    """Over all trials, as in the report."""
    without_faults: UserScore
    """Over the trials without a proven fault."""
    without_repeating: UserScore | None
    """Over the first play of each trial; None if none was played again."""


def user_rows(
    plan: EvaluationPlan,
    trials: Sequence[TrialRow],
    repeated: Mapping[TrialKey, Sequence[TrialRow]],
) -> tuple[UserRow, ...]:
    """Return a row for each participant and domain with a checked user.

    Args:
        plan: The plan of the run.
        trials: The trials that ended.
        repeated: Their other plays, in order, by trial.
    """
    rows = []
    for participant in plan.participants:
        for domain in plan.domains:
            mine = [
                each
                for each in trials
                if each.participant == participant.address and each.domain == domain
            ]
            if any(each.user_check is not None for each in mine):
                others = [play for each in mine for play in repeated.get(each.key, ())]
                first = [
                    min((each, *repeated.get(each.key, ())), key=lambda play: play.play)
                    for each in mine
                ]
                rows.append(_row(mine, others, first))
    return tuple(rows)


def _row(
    trials: Sequence[TrialRow], others: Sequence[TrialRow], first: Sequence[TrialRow]
) -> UserRow:
    checked = [each for each in trials if each.user_check is not None]
    proven = [each for each in checked if each.has_user_fault]
    kinds = Counter(
        kind
        for each in proven
        if each.user_check is not None
        for kind in sorted({fault.kind for fault in each.user_check.proven})
    )
    return UserRow(
        participant=trials[0].participant,
        domain=trials[0].domain,
        user=", ".join(sorted({each.user for each in checked})),
        checked=len(checked),
        with_fault=len(proven),
        possible=sum(
            bool(each.user_check and each.user_check.faults) and not each.has_user_fault
            for each in checked
        ),
        kinds=dict(kinds),
        repeated=len(others),
        score=_score(trials),
        without_faults=_score([each for each in trials if not each.has_user_fault]),
        without_repeating=_score(first) if others else None,
    )


def _score(trials: Sequence[TrialRow]) -> UserScore:
    low, high = ends(trials) if any(each.reward is not None for each in trials) else ({}, {})
    shares = [list(pass_hat_k_by_task(each, 1).values()) for each in (low, high)]
    return UserScore(
        tasks=len(low),
        trials=sum(map(len, low.values())),
        pass_1=mean(shares[0]),
        interval=span(*map(interval_of_mean, shares)),
    )


def user_lines(rows: Sequence[UserRow]) -> list[str]:
    """Say of each row what the check of its users found, and what that does to the score."""
    return [f"{row.participant} in {row.domain}, user {row.user}: {_found(row)}" for row in rows]


def _found(row: UserRow) -> str:
    told = [
        f"{row.with_fault} of {row.checked} trials have a proven fault of the user{_kinds(row)}"
        if row.with_fault
        else f"no proven fault of the user in {row.checked} trials"
    ]
    if row.possible:
        told.append(f"{row.possible} more have possible ones, which count for nothing")
    if row.repeated:
        plays = "1 play was" if row.repeated == 1 else f"{row.repeated} plays were"
        told.append(f"{plays} set aside and repeated")
    scores = [f"pass^1 {_worded(row.score)}"]
    if row.with_fault:
        scores.append(f"{_worded(row.without_faults)} without these trials")
    if row.without_repeating is not None:
        scores.append(f"{_worded(row.without_repeating)} had none been repeated")
    return f"{'; '.join(told)}. {', '.join(scores).capitalize()}"


def _kinds(row: UserRow) -> str:
    words = {str(kind): text for kind, text in KIND_WORDS.items()}
    return f" ({', '.join(f'{count} {words[kind]}' for kind, count in row.kinds.items())})"


def _worded(score: UserScore) -> str:
    if score.pass_1 is None or score.interval is None:
        return "unknown (no trial has a score)"
    return f"{score.pass_1:.2f} ({score.interval.low:.2f} to {score.interval.high:.2f})"


def fault_lines(trials: Sequence[TrialRow], repeated: Sequence[TrialRow]) -> list[str]:
    """Quote the first faults of a run, proven ones first, of the plays that were set aside as well."""
    found = [
        line
        for certainty in ("proven", "possible")
        for rows, note in ((trials, ""), (repeated, ", set aside"))
        for line in _quoted(rows, certainty, note)
    ]
    more = len(found) - MOST_FAULTS_SHOWN
    shown = found[:MOST_FAULTS_SHOWN]
    return [*shown, f"{more} more, under trials in report.json"] if more > 0 else shown


def _quoted(rows: Sequence[TrialRow], certainty: str, note: str) -> Iterator[str]:
    for row in rows:
        for fault in row.user_check.faults if row.user_check is not None else ():
            if fault.certainty == certainty:
                by = "" if fault.produced_by == "rules" else f", by {fault.produced_by}"
                yield (
                    f"{row.label}{note}, message {fault.message}, {certainty}{by}: {fault.reason} "
                    f"({fault.quote!r})"
                )


def by_trial(plays: Sequence[TrialRow]) -> dict[TrialKey, list[TrialRow]]:
    """Sort plays that were set aside by their trial, in order."""
    found: dict[TrialKey, list[TrialRow]] = defaultdict(list)
    for each in plays:
        found[each.key].append(each)
    return found
