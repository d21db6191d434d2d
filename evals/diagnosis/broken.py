"""diagnose_broken: why a trial failed that could not be scored."""

from __future__ import annotations

from typing import Final

from evals.diagnosis.model import Diagnosis, FailureKind
from evals.diagnosis.verdict import Suspicion, diagnosis_of
from evals.outcome import Failed, Fault

_KIND_OF: Final[dict[Fault, FailureKind]] = {
    "user": "user_simulator",
    "infrastructure": "infrastructure",
    "harness": "harness",
}
_GAVE_UP = ("AgentRejectedError", "AgentCanceledError")


def diagnose_broken(outcome: Failed) -> Diagnosis:
    """The diagnosis by the side at fault.

    An agent that rejected or canceled its own task gave up; one whose task failed, or that sent
    more than allowed, did not keep to the form of a conversation.
    """
    kind = _KIND_OF.get(outcome.fault)
    if kind is None:
        kind = "gave_up" if outcome.reason.startswith(_GAVE_UP) else "format"
    return diagnosis_of([Suspicion(kind=kind, side=outcome.fault, text=outcome.reason)])
