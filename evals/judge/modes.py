"""The 14 failure modes of MAST: those that the calls show, and those that a model is asked about.

Taxonomy: Cemri et al., "Why Do Multi-Agent LLM Systems Fail?", 2025 (arXiv 2503.13657). The
questions are ours.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from evals.base import BaseEvaluator, Evaluation, EvaluationContext, Tier
from evals.graph.interactions import Interactions
from evals.isolation import in_own_thread
from evals.judge.detection import DETECTORS, Verdict, own_steps
from evals.judge.evaluator import RULES, Load, asker_of, share_of
from evals.judge.judgment import (
    Sentence,
    StepId,
    UnusableAnswerError,
    check_citations,
    read_answer,
    schema_of,
)
from evals.judge.model import JudgeModelError, ModelAsker
from evals.judge.prompt import (
    MIN_TOKEN_BUDGET,
    Prompt,
    checked_budget,
    prompts_about,
    question_task,
    wording_version,
)
from evals.judge.quoting import shown_id
from evals.statements import AskModel
from evals.trace import Trace

TOTAL_S = 8.0
"""Time for all questions about one trace: a quarter of what all its evaluators have together."""
AT_ONCE = 4
"""Number of questions that are open at the same time."""


@dataclass(frozen=True)
class FailureMode:
    """One mode of the taxonomy; `question` completes "Decide whether ..."."""

    code: str
    name: str
    question: str


_MODES = """
1.1 disobey_task: an agent broke a condition or limit that the task itself had set
1.2 disobey_role: an agent did what is the part of another agent, or left its own part undone
1.3 step_repetition: a step that was finished was done again without need
1.4 lost_history: an agent fell back behind something that had been said or settled before
1.5 unaware_of_termination: the agents went on although the condition for stopping was met
2.1 conversation_reset: a conversation started over without reason, so that its results were lost
2.2 no_clarification: an agent guessed at unclear or missing facts instead of asking for them
2.3 derailment: the agents moved away from what the task is about
2.4 withheld_information: an agent knew something that another needed, and did not pass it on
2.5 ignored_input: an agent disregarded what another agent had told it or advised
2.6 reasoning_action_mismatch: an agent did something else than it had said or concluded it would do
3.1 premature_end: the task ended before what it asked for had been reached
3.2 no_or_incomplete_verification: a result was used or handed over although it was not checked, or not in full
3.3 wrong_verification: a check took place and approved what is wrong, or rejected what is right
"""


def _mode(line: str) -> FailureMode:
    label, _, question = line.partition(": ")
    code, name = label.split()
    return FailureMode(code, name, question)


FAILURE_MODES = tuple(map(_mode, _MODES.split("\n")[1:-1]))
"""In the order of their codes."""

_QUESTION = """\
Decide whether this failure is present in the transcript: {question}.

Answer "present" only if calls show it, and cite them; "absent" if the transcript is enough to say
that it did not happen; "abstain" if the transcript does not tell."""


class ModeAnswer(BaseModel):
    """A model's answer about one mode."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdict: Verdict
    reason: Sentence
    step_ids: Annotated[tuple[StepId, ...], Field(max_length=20)] = ()


class ModeVerdict(BaseModel):
    """The verdict on one failure mode, who gave it, and the steps that show it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str
    name: str
    verdict: Verdict
    reason: str
    step_ids: tuple[str, ...] = ()
    produced_by: str = RULES
    prompt: str = ""
    """The version of the prompt where a model answered."""


class FailureModesEvaluator(BaseEvaluator):
    """The 14 failure modes: present, absent or abstained from, each with a reason and steps.

    Five are looked for in the calls (`evals.judge.detection`). A model is asked about the others,
    and about those of the five of which the calls do not tell, one mode in each question. An
    answer that cites steps that do not exist is rejected. Without a model these are abstained from.

    Args:
        ask: The language model, or None. Its temperature should be 0.
        produced_by: Who speaks where the model answers: `llm:` and its name.
        timeout_s: For one call of the model, in seconds.
        total_s: For all questions about one trace, in seconds; what is open then is abstained from.
        attempts: How often a call is made that fails or takes too long.
        token_budget: The most that each question may have, counted as bytes (`digest.tokens_of`).
        load: Loads what `ask` needs, before the time of the questions begins to run.

    Raises:
        ValueError: a limit is not usable, or a model has no name.
    """

    name = "failure_modes"
    tier = Tier.JUDGE
    version = "1"
    on_loop = True

    def __init__(
        self,
        ask: AskModel | None = None,
        *,
        produced_by: str = RULES,
        timeout_s: float = TOTAL_S,
        total_s: float = TOTAL_S,
        attempts: int = 2,
        token_budget: int = MIN_TOKEN_BUDGET,
        load: Load | None = None,
    ) -> None:
        self._load = load
        self._asker = asker_of(ask, produced_by, timeout_s=timeout_s, attempts=attempts)
        self._produced_by = produced_by
        self._total_s = total_s
        self._token_budget = checked_budget(token_budget)

    async def prepare(self) -> None:
        """Load what the model needs."""
        if self._load is not None:
            await self._load()

    async def evaluate(self, context: EvaluationContext) -> Evaluation:
        """Return counts by verdict under `values`; each mode, in order, under `details["modes"]`."""
        total_s = share_of(context.time_s, self._total_s)
        deadline = asyncio.get_running_loop().time() + total_s
        # A long trace takes a while to read, which must not hold up the event loop.
        found = await in_own_thread(lambda: detected(context.trace, context.roster))
        if found is None:
            return self.unscored("empty: no step of an agent")
        problems: set[str] = set()
        if self._asker is not None:
            found = await self._with_answers(self._asker, context.trace, found, deadline, problems)
        by_model = any(verdict.produced_by != RULES for verdict in found)
        return self.scored(
            {
                "present": _count(found, "present"),
                "absent": _count(found, "absent"),
                "abstained": _count(found, "abstain"),
            },
            details={"modes": [verdict.model_dump(mode="json") for verdict in found]},
            warnings=tuple(sorted(problems)),
            produced_by=self._produced_by if by_model else RULES,
        )

    async def _with_answers(
        self,
        asker: ModelAsker,
        trace: Trace,
        found: tuple[ModeVerdict, ...],
        deadline: float,
        problems: set[str],
    ) -> tuple[ModeVerdict, ...]:
        """Return the verdicts, with the model's wherever the calls alone do not tell."""
        prompts = await in_own_thread(lambda: mode_prompts(trace, self._token_budget))
        slots = asyncio.Semaphore(AT_ONCE)

        async def settled(before: ModeVerdict) -> ModeVerdict:
            if before.verdict != "abstain":
                return before
            prompt = prompts[before.code]
            try:
                async with asyncio.timeout_at(deadline), slots:
                    answer = await asker.obtain(prompt, lambda text: read_answer(text, ModeAnswer))
            except TimeoutError:
                cause = "the time for all questions was used up"
            except JudgeModelError as error:
                cause = str(error)
            else:
                return self._checked(before, answer, prompt)
            problems.add(f"the model {self._produced_by!r} did not answer: {cause}")
            return before.model_copy(update={"reason": f"no answer of the model: {cause}"})

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(settled(before)) for before in found]
        return tuple(task.result() for task in tasks)

    def _checked(self, mode: ModeVerdict, answer: ModeAnswer, prompt: Prompt) -> ModeVerdict:
        verdict, reason, step_ids = answer.verdict, answer.reason, answer.step_ids
        try:
            check_citations(step_ids, prompt.digest.step_ids)
        except UnusableAnswerError as error:
            verdict, reason, step_ids = "abstain", f"the answer was rejected: {error}", ()
        if verdict == "present" and not step_ids:
            verdict, reason = "abstain", "the answer was rejected: it cites no step"
        return ModeVerdict(
            code=mode.code,
            name=mode.name,
            verdict=verdict,
            reason=reason,
            step_ids=step_ids,
            produced_by=self._produced_by,
            prompt=prompt_version(mode.code),
        )


@cache
def prompt_version(code: str) -> str:
    """Identify the wording of the prompt about a mode, by a hash of all but the transcript."""
    (question,) = (each.question for each in FAILURE_MODES if each.code == code)
    return wording_version(
        question_task(_QUESTION.format(question=question), schema_of(ModeAnswer))
    )


def mode_prompts(trace: Trace, token_budget: int = MIN_TOKEN_BUDGET) -> dict[str, Prompt]:
    """Return the prompt about each mode, by its code."""
    schema = schema_of(ModeAnswer)
    tasks = [
        question_task(_QUESTION.format(question=mode.question), schema) for mode in FAILURE_MODES
    ]
    prompts = prompts_about(trace, tasks=tasks, token_budget=token_budget)
    return {mode.code: prompt for mode, prompt in zip(FAILURE_MODES, prompts, strict=True)}


def detected(trace: Trace, roster: tuple[str, ...] | None = None) -> tuple[ModeVerdict, ...] | None:
    """Return the verdicts from the calls alone, in order; None for a trace without an own step."""
    team = Interactions.of(trace, roster)
    if not own_steps(team) and not team.agent_calls:
        return None
    return tuple(_by_calls(mode, team) for mode in FAILURE_MODES)


def _by_calls(mode: FailureMode, team: Interactions) -> ModeVerdict:
    detector = DETECTORS.get(mode.code)
    if detector is None:
        reason = "needs a model: the calls alone do not show it"
        return ModeVerdict(code=mode.code, name=mode.name, verdict="abstain", reason=reason)
    found = detector(team)
    return ModeVerdict(
        code=mode.code,
        name=mode.name,
        verdict=found.verdict,
        reason=found.reason,
        step_ids=tuple(dict.fromkeys(map(shown_id, found.step_ids))),
    )


def _count(found: tuple[ModeVerdict, ...], verdict: Verdict) -> float:
    return float(sum(one.verdict == verdict for one in found))
