"""Reference plays: doing nothing, and the task's own gold actions.

Played in this process, with a scripted user: no agent is asked, and nothing travels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Final

from evals.outcome import TaskResult
from tau_bridge.clock import Runtime
from tau_bridge.messages import AssistantMessage, Message, ToolCall
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.loop import ConversationLimits, converse
from tau_bridge.tau2.replay import new_world
from tau_bridge.tau2.scoring import score_components
from tau_bridge.tau2.scripted_user import ScriptedUser
from tau_bridge.tau2.solo import DONE
from tau_bridge.tau2.tasks import EvaluationCriteria, GoldAction, Task
from tau_bridge.wire_agent import AgentTurn, call_ids

REFUSAL: Final = AssistantMessage(content="I am sorry, but I cannot help with that.")
CLOSING: Final = "Is there anything else I can help you with?"


async def play_reference(
    domain: Domain, task: Task, *, gold: bool, solo: bool, max_steps: int
) -> TaskResult:
    """Score a task's gold actions, or an agent that refuses whatever it hears.

    Raises:
        tau_bridge.errors.BridgeError: The task cannot be played or scored.
    """
    side = reference_agent(task, gold=gold, solo=solo)
    world = new_world(domain, task, solo=solo)
    played = await converse(
        task=task,
        world=world,
        agent=side,
        user=None if solo else ScriptedUser(task, tools=world.user_tools),
        limits=ConversationLimits(max_steps=max_steps),
        recorder=TraceRecorder(side.address, runtime=Runtime.system()),
    )
    if played.error is not None:
        raise played.error
    return score_components(
        domain, task, played.messages, termination=played.termination, solo=solo
    )


def reference_agent(task: Task, *, gold: bool, solo: bool) -> ScriptedSide:
    """Return an agent that makes a task's gold actions, or one that refuses whatever it hears."""
    turns = _gold_turns(task, solo=solo) if gold else repeat(REFUSAL)
    return ScriptedSide(address="ceiling" if gold else "floor", turns=turns)


@dataclass(frozen=True, kw_only=True)
class ScriptedSide:
    """An agent whose turns are known beforehand."""

    address: str
    turns: Iterator[AssistantMessage]

    async def reply(self, incoming: Sequence[Message]) -> AgentTurn:
        """Take the next turn, whatever was said."""
        del incoming
        return AgentTurn(message=next(self.turns))


def _gold_turns(task: Task, *, solo: bool) -> Iterator[AssistantMessage]:
    """Yield a task's gold actions, one a turn; then, for ever, what the user has to hear.

    Without a user the agent makes the user's actions itself, and ends by `DONE`.
    """
    criteria = task.evaluation_criteria or EvaluationCriteria()
    ids = call_ids()

    def call(name: str, arguments: dict[str, object]) -> AssistantMessage:
        return AssistantMessage(
            tool_calls=(ToolCall(id=next(ids), name=name, arguments=arguments),)
        )

    for action in criteria.actions or ():
        if action.requestor == "user" and not solo:
            yield AssistantMessage(content=_request(action))
        else:
            yield call(action.name, action.arguments)
    required = "; ".join(criteria.communicate_info or ())
    while True:
        if solo:
            yield call(DONE, {})
        else:
            yield AssistantMessage(content=f"That is done. {required} {CLOSING}")


def _request(action: GoldAction) -> str:
    """Write a sentence that a scripted user understands."""
    arguments = ", ".join(f"{key}={value!r}" for key, value in action.arguments.items())
    return f"Please run the tool {action.name}({arguments}) on your phone now."
