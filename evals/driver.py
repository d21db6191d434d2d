"""EvaluatorRegistry: checks evaluators when they are registered, runs them tier by tier."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Iterable
from dataclasses import replace

from evals.base import BaseEvaluator, Evaluation, EvaluationContext, Tier
from evals.isolation import in_own_thread

logger = logging.getLogger(__name__)

DEFAULT_TIMEOUT_S = 30.0
"""Time for all evaluators of one trace together."""
PREPARE_TIMEOUT_S = 60.0
"""Time for one evaluator to load what it needs, before that."""


class EvaluatorError(ValueError):
    """An evaluator cannot be registered, or a name is not known. The message names it."""


def check_evaluator(evaluator: object) -> BaseEvaluator:
    """Return `evaluator`, if it is a usable one.

    Raises:
        EvaluatorError: it lacks something; the message names the evaluator and what.
    """
    label = f"evaluator {getattr(evaluator, 'name', None) or type(evaluator).__name__!r}"
    if not isinstance(evaluator, BaseEvaluator):
        raise EvaluatorError(f"{label} is a {type(evaluator).__name__}, not a BaseEvaluator")
    for attribute in ("name", "version"):
        value = getattr(evaluator, attribute, None)
        if not isinstance(value, str) or not value:
            raise EvaluatorError(
                f"{label} needs a class variable {attribute!r}: a non-empty string"
            )
    if not isinstance(getattr(evaluator, "tier", None), Tier):
        raise EvaluatorError(f"{label} needs a class variable 'tier' of type evals.base.Tier")
    if not inspect.iscoroutinefunction(evaluator.evaluate):
        raise EvaluatorError(f"{label}: evaluate must be 'async def evaluate(self, context)'")
    if len(inspect.signature(evaluator.evaluate).parameters) != 1:
        raise EvaluatorError(f"{label}: evaluate must take exactly one argument, the context")
    return evaluator


class EvaluatorRegistry:
    """Evaluators by unique name, enabled and disabled by name.

    Args:
        evaluators: Registered at once, in this order.
        timeout_s: How long all evaluators together may take over one trace, in seconds.
        warnings: Say which plugins are left out, and why.
    """

    def __init__(
        self,
        evaluators: Iterable[BaseEvaluator] = (),
        *,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        warnings: Iterable[str] = (),
    ) -> None:
        self.warnings = tuple(warnings)
        self._timeout_s = timeout_s
        self._evaluators: dict[str, BaseEvaluator] = {}
        self._disabled: set[str] = set()
        for evaluator in evaluators:
            self.register(evaluator)

    def register(self, evaluator: object) -> None:
        """Add an evaluator.

        Raises:
            EvaluatorError: its name is taken, or it lacks what an evaluator needs.
        """
        checked = check_evaluator(evaluator)
        if checked.name in self._evaluators:
            raise EvaluatorError(f"an evaluator named {checked.name!r} is registered already")
        self._evaluators[checked.name] = checked

    @property
    def names(self) -> tuple[str, ...]:
        """Return all registered names, in the order in which they run."""
        return tuple(evaluator.name for evaluator in self._in_order())

    @property
    def all(self) -> tuple[BaseEvaluator, ...]:
        """Return all registered evaluators, in the order in which they run."""
        return tuple(self._in_order())

    def enable(self, name: str, *, enabled: bool = True) -> None:
        """Switch one evaluator on or off.

        Raises:
            EvaluatorError: no evaluator has that name.
        """
        if name not in self._evaluators:
            raise EvaluatorError(
                f"no evaluator named {name!r}; there are: {', '.join(self.names) or 'none'}"
            )
        (self._disabled.discard if enabled else self._disabled.add)(name)

    async def run(self, context: EvaluationContext) -> tuple[Evaluation, ...]:
        """Run every enabled evaluator that judges such traces.

        They come by tier, and then in the order of registration.
        """
        chosen = [
            evaluator
            for evaluator in self._in_order()
            if evaluator.name not in self._disabled and context.scope in evaluator.scopes
        ]
        for evaluator in chosen:
            await _prepared(evaluator)
        deadline = asyncio.get_running_loop().time() + self._timeout_s
        done: list[Evaluation] = []
        for evaluator in chosen:
            done.append(await self._run_one(evaluator, context, tuple(done), deadline))
        return tuple(done)

    def _in_order(self) -> list[BaseEvaluator]:
        return sorted(self._evaluators.values(), key=lambda evaluator: evaluator.tier)

    async def _run_one(
        self,
        evaluator: BaseEvaluator,
        context: EvaluationContext,
        earlier: tuple[Evaluation, ...],
        deadline: float,
    ) -> Evaluation:
        """Run one evaluator, for half of the time that is left at most, so that some always is."""
        now = asyncio.get_running_loop().time()
        time_s = (deadline - now) / 2
        if time_s <= 0:
            used_up = f"the time for all evaluators, {self._timeout_s:g} s, was used up"
            return self._failed(evaluator, f"{used_up} before it began")
        limited = replace(context, earlier=earlier, time_s=time_s)
        limit = asyncio.timeout_at(now + time_s)
        try:
            async with limit:
                evaluation: object = (
                    await evaluator.evaluate(limited)
                    if evaluator.on_loop
                    else await in_own_thread(lambda: _alone(evaluator, limited))
                )
        except Exception as error:
            if limit.expired():
                return self._failed(
                    evaluator, f"took longer than its share of {self._timeout_s:g} s"
                )
            logger.debug("evaluator %r failed", evaluator.name, exc_info=True)
            return self._failed(evaluator, f"{type(error).__name__}: {error}")
        if not isinstance(evaluation, Evaluation):
            kind = type(evaluation).__name__
            return self._failed(evaluator, f"returned a {kind}, not an Evaluation")
        if evaluation.evaluator != evaluator.name:
            other = evaluation.evaluator
            return self._failed(evaluator, f"returned an evaluation in the name of {other!r}")
        return evaluation

    def _failed(self, evaluator: BaseEvaluator, reason: str) -> Evaluation:
        return evaluator.unscored(reason).model_copy(update={"status": "failed"})


async def _prepared(evaluator: BaseEvaluator) -> None:
    """Let an evaluator load what it needs. What is missing then, its evaluation says."""
    try:
        async with asyncio.timeout(PREPARE_TIMEOUT_S):
            await evaluator.prepare()
    except Exception as error:  # noqa: BLE001 - a plugin may raise anything
        reason = f"{type(error).__name__}: {error}"
        logger.warning("evaluator %r could not be prepared: %s", evaluator.name, reason)


def _alone(evaluator: BaseEvaluator, context: EvaluationContext) -> object:
    """Run an evaluator on an event loop of its own."""
    with asyncio.Runner() as runner:
        return runner.run(evaluator.evaluate(context))
