"""Diagnosis: why a trial did not pass, and what shows it.

May import `evals.outcome` and nothing else of `evals`.
"""

from __future__ import annotations

from evals.diagnosis.answer import diagnose_answer
from evals.diagnosis.behaviour import Behaviour, Call, Path, Reply, Turn
from evals.diagnosis.broken import diagnose_broken
from evals.diagnosis.conversation import diagnose_conversation
from evals.diagnosis.model import CallDifference, Diagnosis, Divergence, FailureKind, ReplyFormat
from evals.diagnosis.verdict import Suspicion, diagnosis_of

__all__ = [
    "Behaviour",
    "Call",
    "CallDifference",
    "Diagnosis",
    "Divergence",
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
