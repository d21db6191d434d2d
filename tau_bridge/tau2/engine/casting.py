"""Casting: who speaks in a conversation that the official engine plays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tau_bridge.benchmark import MODEL_USER, NO_USER, SCRIPTED_USER, PlayContext
from tau_bridge.completion import ToolSchema
from tau_bridge.tau2.engine.playing import Cast
from tau_bridge.tau2.model_user import RecordedModel
from tau_bridge.tau2.scripted_user import ScriptedUser
from tau_bridge.tau2.solo import DONE_TOOL
from tau_bridge.tau2.tasks import Task
from tau_bridge.wire_agent import AgentSide, WireAgent

if TYPE_CHECKING:
    from tau_bridge.a2a.conversation import Conversation


def cast_of(
    task: Task, agent: Conversation, context: PlayContext, *, solo: bool
) -> tuple[Cast, str]:
    """Return everyone who speaks with an agent, and the label of the user.

    The agent is told and asked what it is by our own engine. The user is the official simulator
    with the configured model, or ours that follows rules where there is no model.
    """

    def new_agent(policy: str, tools: Sequence[ToolSchema]) -> AgentSide:
        offered = (*tools, DONE_TOOL) if solo else tools
        return WireAgent(agent, address=context.address, policy=policy, tools=offered)

    if solo:
        return Cast(new_agent=new_agent), NO_USER
    if context.user_model is None:
        cast = Cast(new_agent=new_agent, new_user=lambda tools: ScriptedUser(task, tools=tools))
        return cast, SCRIPTED_USER
    model = context.user_model
    recorded = RecordedModel(model.completion, model.name, context.recorder)
    return Cast(new_agent=new_agent, user_model=recorded), f"{MODEL_USER}{model.name}"
