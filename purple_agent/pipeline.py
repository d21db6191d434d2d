"""Pipeline: runs the stages of the reference agent in order, with one trace step each."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from purple_agent.case import Answer, Case, Json, Stage

logger = logging.getLogger(__name__)

BROKE = "I am sorry, something went wrong on my side, and I could not finish this."
"""The answer in place of an exception's text, which may contain anything."""


@dataclass(frozen=True, kw_only=True)
class StageStep:
    """A stage's step in the trace. Times are seconds since 1970; `error` is a class name."""

    number: int
    name: str
    start_s: float
    end_s: float
    outcome: str
    """`passed`, `skipped` (the pipeline had ended), or the kind of the answer that ended it."""
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class NamedStage:
    """A stage with the number and name under which traces show it."""

    number: int
    name: str
    run: Stage


class Pipeline:
    """Runs a case through all stages.

    Args:
        stages: The stages in order; the last one must answer.
        clock: Returns seconds since 1970.
        describe: Describes a case in the metadata of an answer that ends it early; the answer's own
            metadata win.
    """

    def __init__(
        self,
        stages: Sequence[NamedStage],
        *,
        clock: Callable[[], float],
        describe: Callable[[Case], Mapping[str, Json]] = lambda _: {},
    ) -> None:
        self._stages = tuple(stages)
        self._clock = clock
        self._describe = describe

    async def run(self, case: Case) -> tuple[Answer, tuple[StageStep, ...]]:
        """Answer a case, with exactly one step per stage.

        An error in a stage is logged and ends the pipeline with a fixed sentence.
        """
        steps: list[StageStep] = []
        answer: Answer | None = None
        for stage in self._stages:
            if answer is not None:
                steps.append(self._step(stage, self._clock(), "skipped"))
                continue
            start_s, error = self._clock(), None
            result: Any = None
            try:
                result = await stage.run(case)
            except Exception as broke:
                logger.exception("stage %d, %s, failed", stage.number, stage.name)
                result, error = Answer(text=BROKE, kind="failed"), type(broke).__name__
            if isinstance(result, Answer):
                ended_early = error is not None or stage is not self._stages[-1]
                answer = self._described(result, case) if ended_early else result
            else:
                case = result
            steps.append(self._step(stage, start_s, answer.kind if answer else "passed", error))
        if answer is None:
            raise RuntimeError(f"the last stage, {self._stages[-1].name}, gave no answer")
        return answer, tuple(steps)

    def _described(self, answer: Answer, case: Case) -> Answer:
        return replace(answer, metadata={**self._describe(case), **answer.metadata})

    def _step(
        self, stage: NamedStage, start_s: float, outcome: str, error: str | None = None
    ) -> StageStep:
        return StageStep(
            number=stage.number,
            name=stage.name,
            start_s=start_s,
            end_s=self._clock(),
            outcome=outcome,
            error=error,
        )
