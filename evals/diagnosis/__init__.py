"""Diagnosis: why a trial did not pass, and what shows it.

May import `evals.outcome` and nothing else of `evals`.
"""

from __future__ import annotations

from evals.diagnosis.answer import diagnose_answer
from evals.diagnosis.broken import diagnose_broken
from evals.diagnosis.conduct import Call, Conduct, Path, Reply, Turn
from evals.diagnosis.conversation import diagnose_conversation
from evals.diagnosis.model import CallDifference, Departure, Diagnosis, FailureKind, ReplyFormat
from evals.diagnosis.verdict import Suspicion, diagnosis_of

__all__ = [
    "Call",
    "CallDifference",
    "Conduct",
    "Departure",
    "Diagnosis",
    "FailureKind",
    "Path",
    "Reply",
    "ReplyFormat",
    "Suspicion",
    "Turn",
    "diagnose_answer",
    "diagnose_broken",
    "diagnose_conversation",
    "diagnosis_of",
]
