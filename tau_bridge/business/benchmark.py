"""BusinessBenchmark: business scenarios, as a benchmark."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from evals.diagnosis import Diagnosis
from evals.outcome import TaskResult
from evals.trace import Trace
from tau_bridge.benchmark import (
    BASE_SPLIT,
    CEILING,
    FLOOR,
    PASS_HAT_K,
    SCRIPTED_USER,
    Benchmark,
    DomainInfo,
    Headline,
    Judge,
    PlayContext,
    Played,
    Revision,
    TaskInfo,
    TaskRef,
)
from tau_bridge.business.caller import ScriptedCaller
from tau_bridge.business.diagnosis import diagnose_scenario
from tau_bridge.business.references import scenario_ceiling, scenario_floor
from tau_bridge.business.scenarios import DOMAIN, scenario, scenarios, scenarios_revision
from tau_bridge.business.scoring import BASIS, EFFICIENCY, grade
from tau_bridge.business.tools import Find, Get, GetApproval
from tau_bridge.business.wording import with_business
from tau_bridge.business.world import BusinessWorld, CallMade
from tau_bridge.errors import BridgeError
from tau_bridge.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    to_records,
)

if TYPE_CHECKING:
    from tau_bridge.a2a.messenger import Conversation
    from tau_bridge.tool_server import ToolServer, ToolSession

TOOLS = "business-tools"
"""What a trace calls the tools."""
MEANINGS = {
    "STATE": "the records ended in another state",
    "POLICY": "the policy was broken",
    "COMMUNICATE": "the user was not told what had to be told",
    EFFICIENCY: "more calls were made than the solution needs",
}
"""What it means that a component is 0."""


class BusinessBenchmark(Benchmark):
    """Requests to an agent that has tools of its own, a policy, and an end state to reach."""

    name = "business"
    summary = "business processes with tools, a policy and an end state"
    position = 20
    examples = ("Evaluate the agent at http://localhost:9010 on ten business tasks",)
    headlines = (
        PASS_HAT_K,
        Headline(name="tool efficiency", component=EFFICIENCY, passed_only=True),
    )

    def domains(self) -> tuple[DomainInfo, ...]:
        """The one domain."""
        return (
            DomainInfo(
                name=DOMAIN,
                noun="scenarios",
                components=(*BASIS, EFFICIENCY),
                meanings=MEANINGS,
                needs=frozenset({"tools"}),
                references=(FLOOR, CEILING),
            ),
        )

    def tasks(self, domain: str, split: str = BASE_SPLIT) -> Sequence[TaskInfo]:
        """All scenarios."""
        del split
        return [
            TaskInfo(
                ref=self.ref(domain, each.id),
                title=each.title,
                text=f"{each.title}\n{each.opening}",
                components=BASIS,
                kind=each.kind,
                attributes={"process": each.process},
            )
            for each in scenarios().values()
        ]

    def revision(self, domain: str) -> Revision:
        """A hash of the bundled scenarios."""
        del domain
        return Revision(source="greenroom", revision=scenarios_revision())

    def reworded(self, text: str) -> str:
        """The name of the domain where that is meant, and nowhere else."""
        return with_business(text)

    async def play(self, ref: TaskRef, agent: Conversation, context: PlayContext) -> Played:
        """The user's messages one after the other, while the agent calls its tools over HTTP."""
        if context.tools is None:
            raise RuntimeError("no tools are served for the scenarios of this run")
        world = BusinessWorld(scenario(ref.id))
        talk = _Talk(world)
        with context.tools.session(
            world, recorder=context.recorder, caller=context.team.name, name=TOOLS
        ) as session:
            agent.attach(_metadata(world, session, context.tools))
            error: BridgeError | None = None
            try:
                await talk.hold(agent)
            except BridgeError as broken:
                error = broken
        return Played(
            messages=to_records(talk.messages),
            termination=None if error is not None else "user_stop",
            user=SCRIPTED_USER,
            turns=len(talk.answers),
            tool_calls=len(world.calls),
            error=error,
            state=talk,
        )

    async def score(self, ref: TaskRef, played: Played, judge: Judge | None) -> TaskResult | None:
        """Records, policy and words."""
        del ref, judge
        if played.error is not None:
            return None
        talk: _Talk = played.state
        return grade(talk.world, talk.answers)

    def explain(
        self, ref: TaskRef, played: Played, result: TaskResult, trace: Trace
    ) -> Diagnosis | None:
        """Why the scenario did not come to what was expected."""
        del ref, trace
        talk: _Talk = played.state
        return diagnose_scenario(talk.world, result, messages=talk.messages)

    async def reference(
        self, ref: TaskRef, name: str, *, seed: int, max_steps: int
    ) -> TaskResult | None:
        """What doing nothing gets, and what the scenario's own solution gets."""
        del seed, max_steps
        return scenario_floor(ref.id) if name == FLOOR else scenario_ceiling(ref.id)

    def writes(self, ref: TaskRef) -> Callable[[str], bool]:
        """By what the scenario's tools do."""
        return frozenset(
            tool.name
            for tool in scenario(ref.id).tools
            if not isinstance(tool.effect, Get | Find | GetApproval)
        ).__contains__


class _Talk:
    """A conversation about a scenario, as far as it came."""

    def __init__(self, world: BusinessWorld) -> None:
        self.world = world
        self.messages: list[Message] = []
        self.answers: list[str] = []

    async def hold(self, agent: Conversation) -> None:
        """Talk until the user has nothing more to say."""
        caller = ScriptedCaller(self.world.scenario)
        text = caller.opening
        while True:
            self.messages.append(UserMessage(content=text))
            made_before = len(self.world.calls)
            try:
                reply = await agent.send(text)
            finally:
                calls = self.world.calls[made_before:]
                self.messages += _as_messages(calls, first=made_before + 1)
            answer = reply.as_text()
            self.answers.append(answer)
            self.messages.append(AssistantMessage(content=answer))
            line = caller.next(answer)
            if line is None:
                return
            self.world.decide(line.decides)
            text = line.text


def _metadata(world: BusinessWorld, session: ToolSession, tools: ToolServer) -> dict[str, Any]:
    """What goes along with the first message."""
    return {
        "policy_doc": world.scenario.policy,
        "tools_endpoint": tools.endpoint,
        "session_id": session.id,
    }


def _as_messages(calls: Sequence[CallMade], *, first: int) -> list[Message]:
    """Calls as messages: each by the agent, with its result."""
    messages: list[Message] = []
    for number, call in enumerate(calls, start=first):
        call_id = f"call-{number}"
        made = ToolCall(id=call_id, name=call.tool, arguments=dict(call.arguments))
        content = call.error if call.error is not None else json.dumps(call.result)
        messages += [
            AssistantMessage(tool_calls=(made,)),
            ToolMessage(id=call_id, content=content, error=call.error is not None),
        ]
    return messages
