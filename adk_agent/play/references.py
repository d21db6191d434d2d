"""ReferenceBook: the floor and the ceiling of the tasks of a plan, measured beside every run."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from adk_agent.core.plan import COORDINATION, EvaluationPlan
from adk_agent.results.summary import CEILING, FLOOR, DomainReferences, ReferencePlay
from evals.outcome import Failed, Outcome, Scored, TaskResult
from evals.reward import action_reward, reward_of
from tau_bridge.business.references import scenario_ceiling, scenario_floor
from tau_bridge.errors import BridgeError
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.loop import trial_seeds
from tau_bridge.tau2.references import play_ceiling, play_floor
from tau_bridge.tau2.users import NO_USER

logger = logging.getLogger(__name__)

MOST_KEPT = 10_000
TOLD_AFTER = 100
"""Tasks between two words on how far it is."""
_USER = "scripted"
_Play = Callable[[str], Awaitable[TaskResult]]


@dataclass(frozen=True, kw_only=True)
class _Key:
    """What a reference's result depends on."""

    agent: str
    domain: str
    revision: str
    task_id: str
    solo: bool
    evaluation_type: str
    max_steps: int
    seed: int


class ReferenceBook:
    """Plays the reference agents in this process, and remembers what they got.

    Both are the same every time for the same task and data, so that one play of each is enough:
    the floor says that it cannot help, the ceiling makes the gold actions. Exercises for teams
    have neither.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[_Key, Outcome] = OrderedDict()

    async def of(
        self,
        plan: EvaluationPlan,
        domains: Mapping[str, Domain],
        revisions: Mapping[str, str],
        *,
        say: Callable[[str], None] = lambda _: None,
    ) -> dict[str, DomainReferences]:
        """The references of a plan, by domain.

        Args:
            plan: Whose tasks, steps, seed and way of scoring.
            domains: The loaded τ²-bench domains.
            revisions: Of the data, by domain.
            say: Told what is done, and how far it is.
        """
        found = {}
        measured = [planned for planned in plan.tasks if planned.domain != COORDINATION]
        told = _Told(say, sum(len(planned.task_ids) for planned in measured))
        for planned in measured:
            found[planned.domain] = DomainReferences(
                **{
                    mark: await self._play(
                        agent,
                        plan,
                        planned.domain,
                        planned.task_ids,
                        domains.get(planned.domain),
                        revisions[planned.domain],
                        told,
                    )
                    for mark, agent in (("floor", FLOOR), ("ceiling", CEILING))
                }
            )
        return found

    async def _play(
        self,
        agent: str,
        plan: EvaluationPlan,
        domain_name: str,
        task_ids: tuple[str, ...],
        domain: Domain | None,
        revision: str,
        told: _Told,
    ) -> ReferencePlay:
        play = _player(agent, plan, domain)
        outcomes: dict[str, Outcome] = {}
        for task_id in task_ids:
            key = _Key(
                agent=agent,
                domain=domain_name,
                revision=revision,
                task_id=task_id,
                solo=plan.solo,
                evaluation_type=plan.evaluation_type,
                max_steps=plan.max_steps,
                seed=plan.seed,
            )
            outcomes[task_id] = await self._outcome(key, play)
            told.another()
        return ReferencePlay(
            agent=agent,
            user=NO_USER if plan.solo else _USER,
            rewards={
                task_id: outcome.value if isinstance(outcome, Scored) else None
                for task_id, outcome in outcomes.items()
            },
            reasons={
                task_id: outcome.reason
                for task_id, outcome in outcomes.items()
                if not isinstance(outcome, Scored)
            },
        )

    async def _outcome(self, key: _Key, play: _Play) -> Outcome:
        known = self._known.get(key)
        if known is None:
            await asyncio.sleep(0)  # a task takes milliseconds of CPU; others get their turn
            known = await _outcome_of(key, play)
            # What broke may not break the next time.
            if not isinstance(known, Failed):
                self._known[key] = known
            if len(self._known) > MOST_KEPT:
                self._known.popitem(last=False)
        return known


class _Told:
    """Says how many plays there were; a task has two."""

    def __init__(self, say: Callable[[str], None], tasks: int) -> None:
        self._say = say
        self._tasks = tasks
        self._plays = 0
        if tasks:
            say(f"measuring the floor and the ceiling of {_counted(tasks)}")

    def another(self) -> None:
        self._plays += 1
        done, odd = divmod(self._plays, 2)
        if not odd and done % TOLD_AFTER == 0 and done < self._tasks:
            self._say(f"measuring the floor and the ceiling: {done} of {_counted(self._tasks)}")


def _counted(tasks: int) -> str:
    return f"{tasks} task{'s' if tasks != 1 else ''}"


async def _outcome_of(key: _Key, play: _Play) -> Outcome:
    """What a play came to. A reference that breaks is no reason not to evaluate an agent."""
    try:
        result = await play(key.task_id)
    except BridgeError as error:
        return Failed(reason=f"{type(error).__name__}: {error}", fault="harness")
    except Exception as error:
        logger.exception("reference %s of %s %s broke", key.agent, key.domain, key.task_id)
        return Failed(reason=f"{type(error).__name__}: {error}", fault="harness")
    return action_reward(result) if key.evaluation_type == "action" else reward_of(result)


def _player(agent: str, plan: EvaluationPlan, domain: Domain | None) -> _Play:
    if domain is None:
        return _scenario_player(agent)
    play = play_floor if agent == FLOOR else play_ceiling
    seed = trial_seeds(plan.seed, 1)[0]

    async def played(task_id: str) -> TaskResult:
        task = domain.source.task(domain.name, task_id)
        return await play(domain, task, solo=plan.solo, max_steps=plan.max_steps, seed=seed)

    return played


def _scenario_player(agent: str) -> _Play:
    grade = scenario_floor if agent == FLOOR else scenario_ceiling

    async def played(task_id: str) -> TaskResult:
        return grade(task_id)

    return played
