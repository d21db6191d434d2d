"""A tiny world, and conversations over it."""

from collections import deque
from datetime import UTC, datetime
from itertools import count
from types import SimpleNamespace

from hypothesis import strategies as st

from tau_bridge.clock import Runtime
from tau_bridge.messages import ToolMessage, UserMessage
from tau_bridge.recorder import TraceRecorder
from tau_bridge.tau2.loop import ConversationLimits, converse
from tau_bridge.tau2.solo import agent_tools
from tau_bridge.tau2.tasks import parse_task
from tau_bridge.wire_agent import WireAgent

GREETING = "Hi! How can I help you today?"
URL = "http://agent.test/"


class ManualClock:
    """Time that passes only when told."""

    def __init__(self):
        self.seconds = 0.0

    def now(self):
        return datetime.fromtimestamp(self.seconds, UTC)

    def monotonic_s(self):
        return self.seconds


def new_recorder(clock=None):
    ids = count(1)
    runtime = Runtime(clock=clock or ManualClock(), new_id=lambda: f"s{next(ids)}")
    return TraceRecorder("t", runtime=runtime)


def schema(name, **parameters):
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    function = {"parameters": {"properties": properties, "required": list(parameters)}}
    return {"type": "function", "function": {"name": name, **function}}


class Shelf:
    """A world: parcels that the agent moves, and a lamp that the user switches."""

    policy = "Be kind to parcels."

    def __init__(self, *, solo=False):
        self.parcels = {"P-1": "shelf"}
        self.lamp = "off"
        agent, user = (schema("move", parcel="string", to="string"),), (schema("switch_lamp"),)
        self.agent_tools = agent + user if solo else agent
        self.user_tools = () if solo else user
        self._tools = {"move": ("assistant", self._move), "switch_lamp": ("user", self._switch)}
        self._solo = solo

    def _move(self, parcel, to):
        self.parcels[parcel]  # an unknown parcel is an error
        self.parcels[parcel] = to
        return f"{parcel} is now at {to}"

    def _switch(self):
        self.lamp = "on" if self.lamp == "off" else "off"
        return f"The lamp is {self.lamp}"

    async def respond_off_loop(self, call):
        return self.respond(call)

    def respond(self, call):
        owner, tool = self._tools.get(call.name, (None, None))
        if tool is None or (owner != call.requestor and not self._solo):
            content, error = f"Error: no tool {call.name!r}", True
        else:
            try:
                content, error = tool(**call.arguments), False
            except (KeyError, TypeError) as exc:
                content, error = f"Error: {exc}", True
        return ToolMessage(id=call.id, content=content, requestor=call.requestor, error=error)


class TalkingUser:
    """A user that plays prepared turns, the last one for ever, and keeps what it heard."""

    label = "prepared"
    step_id = None

    def __init__(self, *turns):
        self._turns = deque(turns)
        self.heard = []

    async def reply(self, incoming):
        self.heard.append(list(incoming))
        turn = self._turns.popleft() if len(self._turns) > 1 else self._turns[0]
        if isinstance(turn, BaseException):
            raise turn
        return UserMessage(content=turn) if isinstance(turn, str) else turn


def task(*, history=None, ticket=None):
    return parse_task(
        {
            "id": "7",
            "user_scenario": {"instructions": "Move P-1 to the door."},
            "ticket": ticket,
            "initial_state": {"message_history": history} if history else None,
        }
    )


async def play(agent, user, *, the_task=None, world=None, clock=None, recorder=None, **limits):
    return await converse(
        task=the_task or task(),
        world=world or Shelf(solo=user is None),
        agent=agent,
        user=user,
        limits=ConversationLimits(**limits),
        recorder=recorder or new_recorder(clock),
    )


SAID = [
    {"role": "user", "content": "Move P-1."},
    {
        "role": "assistant",
        "tool_calls": [{"id": "call_1", "name": "move", "arguments": {"parcel": "P-1", "to": "x"}}],
    },
    {"role": "tool", "id": "call_1", "content": "P-1 is now at x"},
    {"role": "assistant", "content": "It is at x."},
]


class Wire:
    """A remote conversation with prepared replies, text or data; keeps what was sent."""

    def __init__(self, *replies):
        self._replies = deque(replies)
        self.sent = []

    async def send(self, text):
        self.sent.append(text)
        reply = self._replies.popleft() if len(self._replies) > 1 else self._replies[0]
        if callable(reply):
            reply = reply(text)
        if isinstance(reply, str):
            return SimpleNamespace(text=reply, data=(), step_id=f"call-{len(self.sent)}")
        return SimpleNamespace(text="", data=(reply,), step_id=f"call-{len(self.sent)}")


def wired(*replies, solo=False):
    wire = Wire(*replies)
    world = Shelf(solo=solo)
    tools = agent_tools(world, solo=solo)
    return wire, WireAgent(wire, address=URL, policy=world.policy, tools=tools), world


replies = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            '{"name": "move", "arguments": {"parcel": "P-1", "to": "b"}}',
            '{"name": "move", "arguments": {"parcel": 3}}',
            '{"name": "switch_lamp", "arguments": {}}',
            '{"name": "respond", "arguments": {"content": "Run switch_lamp() please?"}}',
            '{"name": "respond", "arguments": {"content": "One moment."}}',
        ]
    ),
)
