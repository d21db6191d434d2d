"""diagnose_broken: why a trial broke off."""

from __future__ import annotations

from typing import Final

from evals.diagnosis.model import Diagnosis, FailureKind
from evals.diagnosis.verdict import Suspicion, diagnosis_of
from evals.outcome import AgentErrorEnd, Failed, Fault

_KIND_OF: Final[dict[Fault, FailureKind]] = {
    "agent": "agent_error",
    "user": "user_simulator",
    "infrastructure": "infrastructure",
    "harness": "harness",
}


def diagnose_broken(ending: Failed | AgentErrorEnd) -> Diagnosis:
    """Diagnose by the side at fault, and an agent's error by its kind."""
    if isinstance(ending, AgentErrorEnd):
        return diagnosis_of([Suspicion(kind=ending.kind, side="agent", text=ending.text)])
    kind = _KIND_OF[ending.fault]
    return diagnosis_of([Suspicion(kind=kind, side=ending.fault, text=ending.reason)])
