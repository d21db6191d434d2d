"""diagnose_business: why a business scenario did not come to what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evals.diagnosis.circles import repeated_call
from evals.diagnosis.conduct import Conduct, refusal
from evals.diagnosis.model import Diagnosis, FailureKind
from evals.diagnosis.verdict import Suspicion, diagnosis_of, of_words, unsaid
from evals.outcome import TaskResult


@dataclass(frozen=True, kw_only=True)
class BusinessConduct:
    """What was found of one scenario.

    Args:
        conduct: What was said and called.
        forbidden: Forbidden calls that were made, in words.
        not_asked: Approvals that were not asked for, in words.
        handed_over: The case was handed to a person, and should not have been.
        kept: The case was not handed to a person, and should have been.
        undone: Expected changes that are missing, in words.
        also_changed: Which records changed that should not have, in words; None: there are none.
        expects_changes: Whether any record should have changed.
    """

    conduct: Conduct
    forbidden: Sequence[str] = ()
    not_asked: Sequence[str] = ()
    handed_over: bool = False
    kept: bool = False
    undone: Sequence[str] = ()
    also_changed: str | None = None
    expects_changes: bool = True


def diagnose_business(result: TaskResult, found: BusinessConduct) -> Diagnosis:
    """Why a scenario with the reward 0 failed: the policy first, then records, then words."""
    lacking, wrongly = unsaid(result)
    suspicions = [
        *_against_policy(found),
        *_changed(found),
        *_gave_up(found),
        *_circles(found),
        *_undone(found),
        *of_words(lacking, wrongly),
    ]
    return diagnosis_of(suspicions, not_communicated=lacking)


def _against_policy(found: BusinessConduct) -> Iterator[Suspicion]:
    if found.forbidden:
        text = f"a call was made that the policy forbids: {', '.join(found.forbidden)}"
        yield Suspicion(kind="policy", text=text)


def _changed(found: BusinessConduct) -> Iterator[Suspicion]:
    if found.also_changed is not None:
        kind: FailureKind = "wrong_write" if found.expects_changes else "policy"
        text = f"records changed that should not have ({found.also_changed})"
        yield Suspicion(kind=kind, text=text)


def _gave_up(found: BusinessConduct) -> Iterator[Suspicion]:
    if found.handed_over:
        text = "the case was handed over to a person, who was not needed"
        yield Suspicion(kind="gave_up", text=text)
        return
    attempted = any(call.writes for call in found.conduct.calls)
    idle = not found.conduct.calls and (found.not_asked or found.kept)
    declined = refusal(found.conduct)
    if declined is not None and (idle or (found.undone and not attempted)):
        yield Suspicion(kind="gave_up", text=f"{declined}, and did not do what was due")


def _circles(found: BusinessConduct) -> Iterator[Suspicion]:
    circling = repeated_call(found.conduct, in_a_row=True)
    if circling is not None and found.undone:
        call, count = circling
        text = f"{count} equal calls of {call.name} in a row had the same result"
        yield Suspicion(kind="loop", text=text)


def _undone(found: BusinessConduct) -> Iterator[Suspicion]:
    if found.not_asked:
        text = f"an approval was needed and not asked for: {', '.join(found.not_asked)}"
        yield Suspicion(kind="policy", text=text)
    if found.undone:
        text = f"not changed as expected: {', '.join(found.undone)}"
        yield Suspicion(kind="missing_write", text=text)
    if found.kept:
        yield Suspicion(kind="policy", text="the case was not handed over to a person")
