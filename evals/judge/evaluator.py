"""JudgeEvaluator: Tier 2's judgement of a trace, by a language model or by rules."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection

from pydantic import JsonValue

from evals.base import BaseEvaluator, Evaluation, EvaluationContext, Tier
from evals.isolation import in_own_thread
from evals.judge.appeals import appeals_in
from evals.judge.flags import flags_from, moved_flag, suspect_steps
from evals.judge.judgment import (
    LLMJudgment,
    UnusableAnswerError,
    check_citations,
    read_answer,
)
from evals.judge.measured import EMPTY, Measured, measured_in
from evals.judge.model import JudgeModelError, ModelAsker
from evals.judge.prompt import (
    CRITERIA,
    TOKEN_BUDGET,
    Prompt,
    checked_budget,
    judge_prompt,
)
from evals.judge.quoting import shown_id, visible
from evals.judge.rules import rule_judgment
from evals.outcome import Unscored
from evals.statements import AskModel
from evals.trace import InteractionStep, Trace

logger = logging.getLogger(__name__)

Load = Callable[[], Awaitable[None]]
TIMEOUT_S = 20.0
"""Time for one call of the model."""
TOTAL_S = 20.0
"""Time for all calls about one trace, where there is so much."""
RULES = "rules"
WITHHELD = "[withheld by the assessor]"
"""Stands for a text that seems to speak to the judge, when the model is asked again."""
FELL_BACK = "judged by rules, since the model"
"""First words of the warning where a model was asked and rules judged."""
NO_MODEL = "judged by rules, since no language model is configured"


class JudgeEvaluator(BaseEvaluator):
    """A score for the agents' work together, 0 to 1, with reasons and cited steps.

    With a model, it is asked about the transcript and what Tier 1 measured; without one, or where
    it gives no usable answer in time, the rules of `evals.judge.rules` judge from Tier 1 alone,
    and a warning says so and why. Rules judge no dyad; a model does, as a conversation.

    What the rules say stands beside the model's judgement, with flags (`evals.judge.flags`) where
    there is reason to doubt it. Where texts seem to speak to the judge, the model is asked again
    with these withheld, in what time is left; the first answer stays the score.

    Args:
        ask: The language model; None for the rules alone. Its temperature should be 0.
        produced_by: Who speaks where the model answers: `llm:` and its name.
        timeout_s: For one call of the model, in seconds.
        total_s: For all calls about one trace, in seconds.
        attempts: How often a call is made that fails or takes too long.
        token_budget: The most that a prompt may have, counted as bytes (`digest.tokens_of`).
        criteria: What to judge by.
        judges_dyads: Whether a model is asked about two agents too, as about a conversation.
        load: Loads what `ask` needs, before the time of a judgement begins to run.

    Raises:
        ValueError: a limit is not usable, or a model has no name.
    """

    name = "judge"
    tier = Tier.JUDGE
    version = "2"
    on_loop = True

    def __init__(
        self,
        ask: AskModel | None = None,
        *,
        produced_by: str = RULES,
        timeout_s: float = TIMEOUT_S,
        total_s: float = TOTAL_S,
        attempts: int = 2,
        token_budget: int = TOKEN_BUDGET,
        criteria: str = CRITERIA,
        judges_dyads: bool = True,
        load: Load | None = None,
    ) -> None:
        self._judges_dyads = judges_dyads
        self._load = load
        self._asker = asker_of(ask, produced_by, timeout_s=timeout_s, attempts=attempts)
        self._produced_by = produced_by
        self._total_s = total_s
        self._token_budget = checked_budget(token_budget, criteria)
        self._criteria = criteria

    async def prepare(self) -> None:
        """Load what the model needs."""
        if self._load is not None:
            await self._load()

    async def evaluate(self, context: EvaluationContext) -> Evaluation:
        """Return `overall_score` under `values`, judgement and model input under `details`.

        Of a model's judgement also `rules_score`, where rules judge, and `details["flags"]`.
        """
        measured = measured_in(context)
        if self._asker is None:
            return self._by_rules(measured, NO_MODEL)
        if isinstance(measured, Measured) and self._is_beyond(measured):
            return self.unscored(str(measured.not_applicable))
        total_s = share_of(context.time_s, self._total_s)
        deadline = asyncio.get_running_loop().time() + total_s
        try:
            async with asyncio.timeout_at(deadline):
                judgment, prompt = await self._ask(self._asker, context.trace, measured)
            return await self._flagged(self._asker, context, measured, judgment, prompt, deadline)
        except TimeoutError:
            cause = "no usable answer in time"
        except JudgeModelError as error:
            cause = str(error)
        warning = f"{FELL_BACK} {self._produced_by!r} did not: {cause}"
        logger.warning("trace %s: %s", visible(context.trace.trace_id[:80]), warning)
        return self._by_rules(measured, warning)

    def _is_beyond(self, measured: Measured) -> bool:
        """Check whether not even a model is asked: about an empty trace, or an unwanted dyad."""
        if measured.not_applicable is None:
            return False
        return EMPTY in measured.labels or not self._judges_dyads

    async def _ask(
        self, asker: ModelAsker, trace: Trace, measured: Measured | Unscored
    ) -> tuple[LLMJudgment, Prompt]:
        # A long trace takes a while to read, which must not hold up the event loop.
        prompt = await in_own_thread(
            lambda: judge_prompt(
                trace, measured, criteria=self._criteria, token_budget=self._token_budget
            )
        )
        alone = isinstance(measured, Measured) and measured.not_applicable is not None
        return await asker.obtain(prompt, lambda answer: _read(answer, prompt, alone=alone)), prompt

    async def _flagged(
        self,
        asker: ModelAsker,
        context: EvaluationContext,
        measured: Measured | Unscored,
        judgment: LLMJudgment,
        prompt: Prompt,
        deadline: float,
    ) -> Evaluation:
        """Return the model's judgement beside that of the rules, with what makes it doubtful."""
        rules = measured if isinstance(measured, Unscored) else rule_judgment(measured)
        shown = _shown(context.trace, prompt)
        appeals = await in_own_thread(lambda: appeals_in(shown))
        flags, suspect = flags_from(appeals, rules, judgment), suspect_steps(appeals)
        details: dict[str, JsonValue] = {
            "judgment": judgment.model_dump(mode="json"),
            "digest": {**prompt.digest.facts(), "token_budget": self._token_budget},
        }
        if suspect:
            withheld = _without_texts(context.trace, suspect)
            score, reason = await self._score_of(asker, withheld, measured, deadline)
            ids: list[JsonValue] = [*map(shown_id, suspect)]
            details["withheld"] = {"step_ids": ids, "overall_score": score, "reason": reason}
            if score is not None:
                moved = moved_flag(judgment.overall_score, score, tuple(map(shown_id, suspect)))
                flags = flags if moved is None else (*flags, moved)
        values = {"overall_score": judgment.overall_score}
        if isinstance(rules, Unscored):
            details["rules"] = {"reason": rules.reason}
        else:
            values["rules_score"] = rules.overall_score
            details["rules"] = rules.model_dump(mode="json")
        details["flags"] = [flag.model_dump(mode="json") for flag in flags]
        return self.scored(
            values,
            details=details,
            warnings=tuple(f"the judgement is flagged: {flag.sentence}" for flag in flags),
            produced_by=self._produced_by,
        )

    async def _score_of(
        self, asker: ModelAsker, trace: Trace, measured: Measured | Unscored, deadline: float
    ) -> tuple[float | None, str | None]:
        """Return the model's score of a trace in what time is left, or why there is none."""
        try:
            async with asyncio.timeout_at(deadline):
                judgment, _ = await self._ask(asker, trace, measured)
        except TimeoutError:
            return None, "no usable answer in time"
        except JudgeModelError as error:
            return None, str(error)
        return judgment.overall_score, None

    def _by_rules(self, measured: Measured | Unscored, *warnings: str) -> Evaluation:
        judgment = measured if isinstance(measured, Unscored) else rule_judgment(measured)
        if isinstance(judgment, Unscored):
            kept = () if warnings == (NO_MODEL,) else warnings  # nothing was judged
            return self.unscored(judgment.reason).model_copy(update={"warnings": kept})
        return self.scored(
            {"overall_score": judgment.overall_score},
            details={"judgment": judgment.model_dump(mode="json")},
            warnings=warnings,
            produced_by=RULES,
        )


def _shown(trace: Trace, prompt: Prompt) -> Trace:
    """Return the steps of a trace that the model was shown."""
    shown = prompt.digest.step_ids
    steps = tuple(step for step in trace.steps if shown_id(step.step_id) in shown)
    return Trace.model_construct(trace_id=trace.trace_id, steps=steps)


def _without_texts(trace: Trace, step_ids: Collection[str]) -> Trace:
    """Return the trace with a placeholder for each text of some steps."""
    steps = tuple(_withheld(s) if s.step_id in step_ids else s for s in trace.steps)
    return Trace.model_construct(trace_id=trace.trace_id, steps=steps)


def _withheld(step: InteractionStep) -> InteractionStep:
    texts = ("request_text", "response_text", "error")
    known = [field for field in texts if getattr(step, field) is not None]
    return step.model_copy(update=dict.fromkeys(known, WITHHELD))


def share_of(time_s: float | None, wanted_s: float) -> float:
    """Return the time for a model: as much as wanted, and never so much that none is left."""
    return wanted_s if time_s is None else min(wanted_s, 0.9 * time_s)


def asker_of(
    ask: AskModel | None, produced_by: str, *, timeout_s: float, attempts: int
) -> ModelAsker | None:
    """Return a ModelAsker; None without a model.

    Raises:
        ValueError: the model has no name, or a limit is not usable.
    """
    if ask is None:
        return None
    if produced_by == RULES:
        raise ValueError("a judge with a model needs produced_by='llm:<model>', to say who judged")
    return ModelAsker(ask=ask, timeout_s=timeout_s, attempts=attempts)


def _read(answer: str, prompt: Prompt, *, alone: bool) -> LLMJudgment:
    judgment = read_answer(answer, LLMJudgment)
    check_citations(judgment.cited_step_ids, prompt.digest.step_ids)
    if alone and judgment.coordination_quality != "not_applicable":
        raise UnusableAnswerError(
            "coordination_quality is not 'not_applicable', with fewer than three agents"
        )
    return judgment
