"""Verdicts on failure modes, in short."""

from evals.base import EvaluationContext
from evals.driver import EvaluatorRegistry
from evals.judge.modes import FailureModesEvaluator


async def modes(of, ask=None, **options):
    """The evaluation of a trace, and its verdicts by code."""
    options = {"produced_by": "llm:scripted", **options} if ask is not None else options
    registry = EvaluatorRegistry([FailureModesEvaluator(ask, **options)])
    (evaluation,) = await registry.run(EvaluationContext(trace=of))
    return evaluation, {mode["code"]: mode for mode in evaluation.details.get("modes", [])}


async def verdict(code, of):
    _, found = await modes(of)
    return found[code]["verdict"], found[code]["step_ids"]
