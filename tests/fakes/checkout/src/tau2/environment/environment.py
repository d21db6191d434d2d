"""An environment whose tools do what befalls an engine."""

import os
import signal

from tau2.data_model.message import ToolMessage


class Tool:
    def __init__(self, name):
        self.name = name
        self.openai_schema = {
            "type": "function",
            "function": {"name": name, "description": f"{name}.", "parameters": {"type": "object"}},
        }


def ring():
    return "rung"


def shout():
    print("what a tool prints is no message either")
    return "shouted"


def break_down():
    raise RuntimeError("the bell is broken")


def crash():
    os.kill(os.getpid(), signal.SIGKILL)


def hang():
    signal.pause()


def grow():
    return "x" * (17 * 2**20)


TOOLS = {each.__name__: each for each in (ring, shout, break_down, crash, hang, grow)}


class Environment:
    user_tools = None

    def get_policy(self):
        return "Ring once."

    def get_tools(self):
        return [Tool(name) for name in TOOLS]

    def set_state(self, **state):
        pass

    def get_response(self, call):
        try:
            content, error = TOOLS[call.name](), False
        except Exception as problem:
            content, error = f"Error: {problem}", True
        return ToolMessage(id=call.id, content=content, requestor=call.requestor, error=error)
