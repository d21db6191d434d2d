"""The check of the simulated user: faults that rules find in what it said, with the words that show them.

May import `evals.diagnosis`, `evals.leaks`, `evals.statements` and nothing else of `evals`.
"""

from __future__ import annotations

from evals.user_check.asking import UserAnswerError, ask_about_user
from evals.user_check.check import check_user
from evals.user_check.model import Certainty, FaultKind, UserCheck, UserFault
from evals.user_check.reading import Heard, heard_in

__all__ = [
    "Certainty",
    "FaultKind",
    "Heard",
    "UserAnswerError",
    "UserCheck",
    "UserFault",
    "ask_about_user",
    "check_user",
    "heard_in",
]
