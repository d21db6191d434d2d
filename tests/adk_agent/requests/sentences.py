"""Reading a sentence in a test, to a request or to the code of a refusal."""

from __future__ import annotations

from collections.abc import Callable

from adk_agent.core.plan import EvaluationRequest
from adk_agent.requests.intent import Evaluate
from adk_agent.requests.refusal import Refusal

Read = Callable[[str], EvaluationRequest]
ReadEvaluation = Callable[[str], Evaluate]


def answer(read: Read, text: str) -> EvaluationRequest | str:
    try:
        return read(text)
    except Refusal as refusal:
        return refusal.code
