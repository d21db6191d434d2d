"""The checks before changes let the official gold plans of τ² through, over the real tools."""

import os
from pathlib import Path

import pytest

from purple_agent.case import Case, Dialect, Incoming, Session, ToolSpec, Use
from purple_agent.stages.reasoner import ReasonerStage
from purple_agent.stages.session import SessionStage
from purple_agent.toolbox.verbs import is_write
from tau_bridge import wire
from tau_bridge.messages import ToolCall
from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.domains import load_domain
from tau_bridge.tau2.replay import new_world
from tests.purple_agent.reasoners.scripted_model import player

DATA = os.environ.get("TAU2_DATA_DIR")
DONE = "All of that is done."


def specs_of(domain):
    functions = [schema["function"] for schema in domain.agent_schemas]
    return tuple(
        ToolSpec(
            name=function["name"],
            description=function["description"],
            parameters=function["parameters"],
            is_write=is_write(function["name"]),
        )
        for function in functions
    )


async def play(begun, domain, world):
    """The calls that reach the tools, with a user who says yes to everything."""
    made = []
    session_stage, reasoner = SessionStage(), ReasonerStage(begun.reasoner, deadline_s=60)
    text = wire.first_message(domain.policy(), domain.agent_schemas, ["I need some changes"])
    while len(made) < 100:
        incoming = Incoming(context_id="c", message_id="m", text=text)
        case = Case(incoming=incoming, session=begun.session)
        reply = (await reasoner(await session_stage(case))).reply
        if not isinstance(reply, Use):
            if reply.text == DONE:
                break
            text = "yes"
            continue
        name, arguments = reply.call.name, dict(reply.call.arguments)
        made.append((name, arguments))
        text = world.respond(ToolCall(id=reply.call.id, name=name, arguments=arguments)).content
    return made


@pytest.mark.official_data
@pytest.mark.skipif(DATA is None, reason="TAU2_DATA_DIR is not set")
@pytest.mark.parametrize("name", ["retail", "airline"])
async def test_no_change_of_a_gold_plan_is_held_up_for_good(talk, name):
    source = open_source(Path(DATA))
    domain = load_domain(source, name)
    for task_id in source.task_ids(name)[:12]:
        task = source.task(name, task_id)
        plan = [
            (action.name, dict(action.arguments)) for action in task.evaluation_criteria.actions
        ]
        changes = frozenset(filter(domain.tool_names.changes_state, domain.tool_names.agent))
        session = Session(
            context_id="c",
            dialect=Dialect.TAU2,
            policy_text=domain.policy(),
            specs=specs_of(domain),
        )
        begun = talk(player(plan, changes=changes, done=DONE), session=session)
        made = await play(begun, domain, new_world(domain, task))
        assert made == plan, task_id
