"""The command: plays one conversation with a registered agent, and says what was said."""

import argparse
import json

from tau2.data_model.message import UserMessage
from tau2.data_model.tasks import Task
from tau2.orchestrator.orchestrator import Orchestrator
from tau2.registry import registry
from tau2.runner.build import build_environment
from tau2.user.user_simulator_base import HalfDuplexUser


class User(HalfDuplexUser):
    def __init__(self):
        self.words = iter(["Please ring.", "###STOP###"])

    def get_init_state(self, history):
        return None

    def generate_next_message(self, message, state):
        return UserMessage(content=next(self.words)), state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("--agent")
    parser.add_argument("--agent-llm")
    parser.add_argument("--agent-llm-args", type=json.loads)
    parsed = parser.parse_args()
    environment = build_environment("mock")
    agent = registry.factories[parsed.agent](
        tools=environment.get_tools(),
        domain_policy=environment.get_policy(),
        llm=parsed.agent_llm,
        llm_args=parsed.agent_llm_args,
    )
    played = Orchestrator(
        agent=agent,
        user=User(),
        environment=environment,
        task=Task(id="a", user_scenario={}),
        max_steps=20,
    ).run()
    agent.stop(None, None)
    said = [[each.role, each.content] for each in played.messages]
    print(json.dumps({"llm": parsed.agent_llm, "said": said}))
