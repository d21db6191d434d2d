"""RecordedJudge: a language model that decides about statements, its calls in the trial's trace."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from adk_agent.core.errors import ModelError
from adk_agent.core.models import LiteLlmCompletion
from adk_agent.runs.store import JudgedStatement
from evals.statements import PROMPT_VERSION, JudgementError, judge_statements
from evals.trace import CallType
from tau_bridge.completion import COMPLETION
from tau_bridge.recorder import TraceRecorder

logger = logging.getLogger(__name__)

JUDGE = "judge"
"""The caller of verdicts on statements in a trace."""


class RecordedJudge:
    """Judges the statements of one trial. A `tau_bridge.benchmark.Judge`.

    Args:
        model: Is asked.
        recorder: Takes a step for each call.
    """

    def __init__(self, model: LiteLlmCompletion, recorder: TraceRecorder) -> None:
        self._model = model
        self._recorder = recorder
        self.problem: str | None = None
        """Why it could not judge; None where it did, or was not asked."""
        self.verdicts: list[JudgedStatement] = []
        """Its decisions, in order."""

    @property
    def produced_by(self) -> str:
        """Return who decides, for the results."""
        return f"llm:{self._model.spec.name}"

    async def __call__(
        self, statements: Sequence[str], transcript: str
    ) -> Mapping[str, bool] | None:
        """Decide which statements hold; None where the model broke, and `problem` says how."""
        try:
            judged = await judge_statements(statements, transcript, self.ask)
        except (ModelError, JudgementError) as error:
            self._model.forget_answers()  # a later try of this trial has to ask again
            logger.warning("the judge of statements failed: %s", error)
            self.problem = f"the judge of natural-language statements failed: {error}"
            return None
        self.verdicts += [
            JudgedStatement(
                text=text,
                met=verdict.met,
                reason=verdict.reason,
                judge=self.produced_by,
                prompt=PROMPT_VERSION,
            )
            for text, verdict in judged.items()
        ]
        return {text: verdict.met for text, verdict in judged.items()}

    async def ask(self, prompt: str) -> str:
        """Ask the model, with a step in the trace."""
        step = self._recorder.begin(
            call_type=CallType.TOOL,
            caller=JUDGE,
            callee=self._model.spec.name,
            name=COMPLETION,
            request_text=prompt,
        )
        try:
            result = await self._model([{"role": "user", "content": prompt}])
        except BaseException as error:
            step.end(error=type(error).__name__)
            raise
        step.end(
            response_text=result.content,
            total_tokens=result.total_tokens,
            cost=result.cost,
            attributes=result.attributes,
        )
        return result.content or ""
