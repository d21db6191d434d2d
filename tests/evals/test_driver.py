import asyncio
from typing import ClassVar

import pytest

from evals import driver
from evals.base import BaseEvaluator, EvaluationContext, Tier
from evals.driver import EvaluatorError, EvaluatorRegistry
from evals.trace import Trace

CONTEXT = EvaluationContext(trace=Trace(trace_id="t"))


class Steps(BaseEvaluator):
    name = "steps"
    tier = Tier.TEXT
    version = "1"

    async def evaluate(self, context):
        return self.scored({"steps": float(len(context.trace.steps))})


class Breaks(BaseEvaluator):
    name = "breaks"
    tier = Tier.GRAPH
    version = "2"

    async def evaluate(self, context):
        raise ZeroDivisionError("no edges")


class Hangs(BaseEvaluator):
    name = "hangs"
    tier = Tier.JUDGE
    version = "1"

    async def evaluate(self, context):
        await asyncio.Event().wait()


class Lies(Steps):
    name = "lies"

    async def evaluate(self, context):
        return 7


@pytest.mark.requirement("ext:evaluator")
async def test_evaluators_run_by_tier_and_one_that_raises_stops_no_other():
    registry = EvaluatorRegistry([Steps(), Breaks()])
    broken, steps = await registry.run(CONTEXT)
    assert (broken.evaluator, broken.status) == ("breaks", "failed")
    assert broken.reason == "ZeroDivisionError: no edges"
    assert broken.values == {}
    assert (steps.status, steps.values) == ("scored", {"steps": 0.0})


async def test_what_an_evaluator_loads_takes_no_time_from_any():
    class Loads(Steps):
        async def prepare(self):
            await asyncio.wait([asyncio.ensure_future(asyncio.Event().wait())], timeout=0.3)

    (steps,) = await EvaluatorRegistry([Loads()], timeout_s=0.25).run(CONTEXT)
    assert steps.status == "scored"


async def test_an_evaluator_that_cannot_load_is_evaluated_all_the_same():
    class Lacks(Steps):
        async def prepare(self):
            raise ImportError("no such library")

    evaluations = await EvaluatorRegistry([Lacks(), Breaks()]).run(CONTEXT)
    assert [each.status for each in evaluations] == ["failed", "scored"]


async def test_an_evaluator_that_never_ends_loading_holds_up_nobody(monkeypatch):
    class Loads(Steps):
        async def prepare(self):
            await asyncio.Event().wait()

    monkeypatch.setattr(driver, "PREPARE_TIMEOUT_S", 0.01)
    (steps,) = await EvaluatorRegistry([Loads()]).run(CONTEXT)
    assert steps.status == "scored"


async def test_nothing_is_loaded_for_an_evaluator_that_does_not_run():
    class Counts(Steps):
        loaded = 0

        async def prepare(self):
            self.loaded += 1

    counts = Counts()
    registry = EvaluatorRegistry([counts])
    await registry.run(EvaluationContext(trace=CONTEXT.trace, scope="run"))
    registry.enable("steps", enabled=False)
    await registry.run(CONTEXT)
    assert counts.loaded == 0


async def test_an_evaluator_that_takes_too_long_is_failed():
    (hung,) = await EvaluatorRegistry([Hangs()], timeout_s=0.01).run(CONTEXT)
    assert hung.status == "failed"
    assert hung.reason == "took longer than its share of 0.01 s"


@pytest.mark.requirement("speed:evaluations")
async def test_one_that_never_ends_leaves_time_to_the_others():
    class HangsToo(Hangs):
        name = "hangs_too"

    class Late(Steps):
        name = "late"
        tier = Tier.TEXT

        async def evaluate(self, context):
            return self.scored({"time_s": context.time_s})

    registry = EvaluatorRegistry([Hangs(), HangsToo(), Late()], timeout_s=4.0)
    hung, hung_too, late = await registry.run(CONTEXT)
    assert (hung.status, hung_too.status) == ("failed", "failed")
    # Each may take half of what is left: 2 s, 1 s, and then 0.5 s.
    assert 0 < late.values["time_s"] <= 0.5


async def test_an_evaluator_speaks_in_its_own_name_alone():
    class Poses(Steps):
        name = "poses"

        async def evaluate(self, context):
            return self.scored({}).model_copy(update={"evaluator": "graph"})

    (posing,) = await EvaluatorRegistry([Poses()]).run(CONTEXT)
    assert (posing.evaluator, posing.status) == ("poses", "failed")
    assert posing.reason == "returned an evaluation in the name of 'graph'"


async def test_a_time_limit_of_the_evaluator_itself_is_not_taken_for_ours():
    class GivesUp(Steps):
        name = "gives_up"

        async def evaluate(self, context):
            raise TimeoutError("no answer from the lab")

    (failed,) = await EvaluatorRegistry([GivesUp()]).run(CONTEXT)
    assert failed.reason == "TimeoutError: no answer from the lab"


async def test_a_value_that_is_no_finite_number_is_refused():
    class Endless(Steps):
        name = "endless"

        async def evaluate(self, context):
            return self.scored({"length": float("inf")})

    (failed,) = await EvaluatorRegistry([Endless()]).run(CONTEXT)
    assert failed.status == "failed"
    assert "length is inf" in failed.reason


async def test_an_evaluator_that_returns_something_else_is_failed():
    (lying,) = await EvaluatorRegistry([Lies()]).run(CONTEXT)
    assert lying.reason == "returned a int, not an Evaluation"


async def test_an_evaluator_runs_only_over_traces_of_its_scope():
    class OfAllTrials(Steps):
        name = "of_all_trials"
        scopes = frozenset({"participant"})

    registry = EvaluatorRegistry([Steps(), OfAllTrials()])
    over_all = EvaluationContext(trace=Trace(trace_id="t"), scope="participant")
    assert [e.evaluator for e in await registry.run(CONTEXT)] == ["steps"]
    assert [e.evaluator for e in await registry.run(over_all)] == ["of_all_trials"]


async def test_a_disabled_evaluator_does_not_run_until_it_is_enabled_again():
    registry = EvaluatorRegistry([Steps()])
    registry.enable("steps", enabled=False)
    assert await registry.run(CONTEXT) == ()
    registry.enable("steps")
    assert len(await registry.run(CONTEXT)) == 1


def test_an_unknown_name_is_refused_and_the_known_are_named():
    with pytest.raises(EvaluatorError, match="no evaluator named 'graph'; there are: steps"):
        EvaluatorRegistry([Steps()]).enable("graph")


def test_a_name_is_taken_once():
    with pytest.raises(EvaluatorError, match="'steps' is registered already"):
        EvaluatorRegistry([Steps(), Steps()])


def without_name():
    class Nameless(Steps):
        name = ""

    return Nameless()


def with_wrong_tier():
    class Tierless(Steps):
        tier: ClassVar = 9

    return Tierless()


def not_async():
    class Blocking(Steps):
        def evaluate(self, context):
            return self.scored({})

    return Blocking()


def with_more_arguments():
    class Greedy(Steps):
        async def evaluate(self, context, more):
            return self.scored({})

    return Greedy()


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (object, "not a BaseEvaluator"),
        (without_name, "needs a class variable 'name'"),
        (with_wrong_tier, "needs a class variable 'tier'"),
        (not_async, "must be 'async def"),
        (with_more_arguments, "exactly one argument"),
    ],
)
def test_what_is_no_evaluator_is_refused_when_it_is_registered(make, complaint):
    with pytest.raises(EvaluatorError, match=complaint):
        EvaluatorRegistry([make()])
