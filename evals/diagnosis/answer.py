"""diagnose_answer: why the answer to an exercise is not right."""

from __future__ import annotations

from evals.diagnosis.behaviour import Behaviour, Turn, refusal
from evals.diagnosis.model import Diagnosis
from evals.diagnosis.verdict import Suspicion, diagnosis_of, of_words, unsaid
from evals.outcome import TaskResult


def diagnose_answer(result: TaskResult, answer: str) -> Diagnosis:
    """Diagnose an answer that is empty, a refusal, or not right.

    Args:
        result: How the answer was graded.
        answer: What was said.
    """
    lacking, wrongly = unsaid(result)
    suspicions = of_words(lacking, wrongly)
    declined = refusal(Behaviour(turns=[Turn(speaker="assistant", text=answer, message=1)]))
    if not answer.strip():
        suspicions.insert(0, Suspicion(kind="format", text="the answer is empty"))
    elif declined is not None:
        suspicions.insert(0, Suspicion(kind="gave_up", text=declined))
    return diagnosis_of(suspicions, not_communicated=lacking)
