"""References for business scenarios: an agent that does nothing, and the gold solution."""

from __future__ import annotations

from typing import Final

from evals.outcome import TaskResult
from tau_bridge.business.scenarios import scenario
from tau_bridge.business.scoring import grade
from tau_bridge.business.user import ScriptedUser
from tau_bridge.business.world import BusinessWorld

REFUSAL: Final = "I am sorry, but I cannot help with that."


def play_reference(task_id: str, *, gold: bool) -> TaskResult:
    """Score the gold solution of a scenario, or an agent that refuses and calls nothing.

    Raises:
        UnknownTaskError: There is no such scenario.
    """
    played = scenario(task_id)
    world, user = BusinessWorld(played), ScriptedUser(played)
    turns = iter(played.gold if gold else ())
    answers = []
    while True:
        turn = next(turns, None)
        for call in turn.calls if turn is not None else ():
            world.call(call.tool, dict(call.params))
        answers.append(turn.say if turn is not None else REFUSAL)
        line = user.next(answers[-1])
        if line is None:
            return grade(world, answers)
        world.decide(line.decides)
