"""ReferenceBook: the floor and the ceiling of the tasks of a plan, measured beside every run."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from adk_agent.core.plan import EvaluationPlan, PlannedTasks
from adk_agent.play.trial_row import counting
from adk_agent.results.summary import REFERENCE_AGENTS, DomainReferences, ReferencePlay
from evals.outcome import Failed, Outcome, Scored, Unscored
from evals.reward import reward_of
from tau_bridge import benchmark as names
from tau_bridge.benchmark import NO_USER, SCRIPTED_USER, Benchmark
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import BridgeError
from tau_bridge.seeds import trial_seeds

logger = logging.getLogger(__name__)

MOST_KEPT = 10_000
TOLD_AFTER = 100
"""Tasks between two messages about progress."""


@dataclass(frozen=True, kw_only=True)
class _Key:
    """The inputs on which a reference's result depends."""

    reference: str
    domain: str
    revision: str
    task_id: str
    options: str
    max_steps: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class _Result:
    """A reference's reward for one task, and the components that have a value."""

    outcome: Outcome
    components: Mapping[str, float] = field(default_factory=dict)


class ReferenceBook:
    """Plays the reference agents in this process, and remembers what they got.

    They are the same every time for the same task and data, so that one play of each is enough.
    Which there are, and what they do, the benchmark says.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[_Key, _Result] = OrderedDict()

    async def of(
        self,
        plan: EvaluationPlan,
        benchmarks: Benchmarks,
        revisions: Mapping[str, str],
        *,
        say: Callable[[str], None] = lambda _: None,
    ) -> dict[str, DomainReferences]:
        """Return the references of a plan, by domain.

        Args:
            plan: Whose tasks, steps, seed and way of scoring.
            benchmarks: With the plan's options.
            revisions: Of the data, by domain.
            say: Called with what is done, and how far it is.
        """
        measured = [each for each in plan.tasks if benchmarks.domain(each.domain).references]
        tasks = sum(len(each.task_ids) for each in measured)
        plays = sum(
            len(each.task_ids) * len(benchmarks.domain(each.domain).references) for each in measured
        )
        played = 0

        def on_play() -> None:
            nonlocal played
            played += 1
            done, rest = divmod(played * tasks, plays)
            if not rest and done % TOLD_AFTER == 0 and done < tasks:
                say(f"measuring the floor and the ceiling: {done} of {_counted(tasks)}")

        if tasks:
            say(f"measuring the floor and the ceiling of {_counted(tasks)}")
        found = {}
        for planned in measured:
            benchmark, revision = benchmarks.of(planned.domain), revisions[planned.domain]
            of_domain = {
                name: await self._play(name, plan, planned, benchmark, revision, on_play)
                for name in benchmarks.domain(planned.domain).references
            }
            found[planned.domain] = DomainReferences(
                floor=of_domain.pop(names.FLOOR, None),
                ceiling=of_domain.pop(names.CEILING, None),
                others=of_domain,
            )
        return found

    async def _play(
        self,
        name: str,
        plan: EvaluationPlan,
        planned: PlannedTasks,
        benchmark: Benchmark,
        revision: str,
        on_play: Callable[[], None],
    ) -> ReferencePlay:
        rewards: dict[str, float | None] = {}
        reasons: dict[str, str] = {}
        components: dict[str, dict[str, float]] = {}
        for task_id in planned.task_ids:
            key = _Key(
                reference=name,
                domain=planned.domain,
                revision=revision,
                task_id=task_id,
                options=json.dumps(benchmark.chosen_options(), sort_keys=True),
                max_steps=plan.max_steps,
                seed=plan.seed,
            )
            result = await self._result(key, benchmark)
            outcome = result.outcome
            if any(headline.component for headline in benchmark.headlines):
                components[task_id] = dict(result.components)
            rewards[task_id] = outcome.value if isinstance(outcome, Scored) else None
            if not isinstance(outcome, Scored):
                reasons[task_id] = outcome.reason
            on_play()
        return ReferencePlay(
            agent=REFERENCE_AGENTS.get(name, name),
            user=NO_USER if plan.solo else SCRIPTED_USER,
            rewards=rewards,
            reasons=reasons,
            components=components,
        )

    async def _result(self, key: _Key, benchmark: Benchmark) -> _Result:
        known = self._known.get(key)
        if known is None:
            await asyncio.sleep(0)  # a task takes milliseconds of CPU; others get their turn
            known = await _played(key, benchmark)
            # What broke may not break the next time.
            if not isinstance(known.outcome, Failed):
                self._known[key] = known
            if len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)
        return known


def _counted(tasks: int) -> str:
    return f"{tasks} task{'s' if tasks != 1 else ''}"


async def _played(key: _Key, benchmark: Benchmark) -> _Result:
    """Play one reference. One that breaks is no reason not to evaluate an agent."""
    ref = benchmark.ref(key.domain, key.task_id)
    seed = trial_seeds(key.seed, 1)[0]
    try:
        result = await benchmark.reference(ref, key.reference, seed=seed, max_steps=key.max_steps)
    except BridgeError as error:
        return _broken(error)
    except Exception as error:
        logger.exception("reference %s of %s %s broke", key.reference, key.domain, key.task_id)
        return _broken(error)
    if result is None:
        why = f"{benchmark.name} has no {key.reference} for this task"
        return _Result(outcome=Unscored(reason=why))
    return _Result(
        outcome=reward_of(counting(benchmark, result)),
        components={
            each.name: each.outcome.value
            for each in result.components
            if isinstance(each.outcome, Scored)
        },
    )


def _broken(error: Exception) -> _Result:
    reason = f"{type(error).__name__}: {error}"
    return _Result(outcome=Failed(reason=reason, fault="harness"))
