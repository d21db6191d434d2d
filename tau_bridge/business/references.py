"""Reference plays of business scenarios: what doing nothing gets, and what the gold turns get."""

from __future__ import annotations

from typing import Final

from evals.outcome import TaskResult
from tau_bridge.business.caller import ScriptedCaller
from tau_bridge.business.scenarios import Scenario, scenario
from tau_bridge.business.scoring import grade
from tau_bridge.business.world import BusinessWorld

REFUSAL: Final = "I am sorry, but I cannot help with that."


def scenario_floor(task_id: str) -> TaskResult:
    """What an agent gets that makes no call and says that it cannot help.

    Raises:
        UnknownTaskError: There is no such scenario.
    """
    return _played(scenario(task_id), gold=False)


def scenario_ceiling(task_id: str) -> TaskResult:
    """What a scenario's own gold calls and answers get.

    Raises:
        UnknownTaskError: There is no such scenario.
    """
    return _played(scenario(task_id), gold=True)


def _played(played: Scenario, *, gold: bool) -> TaskResult:
    world = BusinessWorld(played)
    caller = ScriptedCaller(played)
    turns = iter(played.gold if gold else ())
    answers = []
    while True:
        turn = next(turns, None)
        for call in turn.calls if turn is not None else ():
            world.call(call.tool, dict(call.params))
        answers.append(turn.say if turn is not None else REFUSAL)
        line = caller.next(answers[-1])
        if line is None:
            return grade(world, answers)
        world.decide(line.decides)
