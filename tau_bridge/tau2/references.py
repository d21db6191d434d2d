"""Reference plays: doing nothing, and the task's own gold actions.

Played in this process, with a scripted user: no agent is asked, and nothing travels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from evals.outcome import TaskResult
from tau_bridge.clock import Runtime
from tau_bridge.messages import AssistantMessage, Message, ToolCall
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.agents import DONE, AgentSide, AgentTurn, call_ids
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.loop import ConversationLimits, converse
from tau_bridge.tau2.replay import new_world
from tau_bridge.tau2.scoring import score_components
from tau_bridge.tau2.scripted_user import ScriptedUser
from tau_bridge.tau2.tasks import GoldAction, Task

REFUSAL: Final = "I am sorry, but I cannot help with that."
CLOSING: Final = "Is there anything else I can help you with?"


class IdleSide:
    """Says that it cannot help, whatever it hears."""

    address = "floor"

    async def reply(self, incoming: Sequence[Message]) -> AgentTurn:
        """Refuse in the same words every time."""
        del incoming
        return AgentTurn(message=AssistantMessage(content=REFUSAL))


class GoldSide:
    """Makes a task's gold actions, one a turn, then says what the user has to hear."""

    address = "ceiling"

    def __init__(self, task: Task, *, solo: bool) -> None:
        criteria = task.evaluation_criteria
        self._communicate = tuple(criteria.communicate_info or ()) if criteria is not None else ()
        self._solo = solo
        self._ids = call_ids()
        self._actions = iter(criteria.actions or () if criteria is not None else ())

    async def reply(self, incoming: Sequence[Message]) -> AgentTurn:
        """Make the next action; after the last say the closing text, for ever."""
        del incoming
        return AgentTurn(message=self._next(self._actions))

    def _next(self, actions: Iterator[GoldAction]) -> AssistantMessage:
        action = next(actions, None)
        if action is None and self._solo:
            return self._calling(DONE, {})
        if action is None:
            required = "; ".join(self._communicate)
            return AssistantMessage(content=f"That is done. {required} {CLOSING}")
        if action.requestor == "user" and not self._solo:
            return AssistantMessage(content=_request(action))
        return self._calling(action.name, action.arguments)

    def _calling(self, name: str, arguments: dict[str, object]) -> AssistantMessage:
        call = ToolCall(id=next(self._ids), name=name, arguments=arguments)
        return AssistantMessage(tool_calls=(call,))


def _request(action: GoldAction) -> str:
    """Write a sentence that a scripted user understands."""
    arguments = ", ".join(f"{key}={value!r}" for key, value in action.arguments.items())
    return f"Please run the tool {action.name}({arguments}) on your phone now."


async def play_floor(
    domain: Domain, task: Task, *, solo: bool, max_steps: int, seed: int
) -> TaskResult:
    """Score doing nothing.

    Raises:
        tau_bridge.errors.BridgeError: The task cannot be played or scored.
    """
    limits = ConversationLimits(max_steps=max_steps)
    return await _played(domain, task, IdleSide(), solo=solo, limits=limits, seed=seed)


async def play_ceiling(
    domain: Domain, task: Task, *, solo: bool, max_steps: int, seed: int
) -> TaskResult:
    """Score the gold actions.

    Raises:
        tau_bridge.errors.BridgeError: The task cannot be played or scored.
    """
    limits = ConversationLimits(max_steps=max_steps)
    side = GoldSide(task, solo=solo)
    return await _played(domain, task, side, solo=solo, limits=limits, seed=seed)


async def _played(
    domain: Domain,
    task: Task,
    side: AgentSide,
    *,
    solo: bool,
    limits: ConversationLimits,
    seed: int,
) -> TaskResult:
    recorder = TraceRecorder(side.address, runtime=Runtime.system())
    played = await converse(
        task=task,
        world=new_world(domain, task, solo=solo),
        agent=side,
        user=None if solo else ScriptedUser(task, tools=domain.user_schemas),
        limits=limits,
        seed=seed,
        recorder=recorder,
    )
    if played.error is not None:
        raise played.error
    return score_components(
        domain, task, played.messages, termination=played.termination, solo=solo
    )
