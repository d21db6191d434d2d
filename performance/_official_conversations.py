"""Plays conversations with the official engine alone, run by a checkout's interpreter.

Reads conversations as JSON, one a line, with what the agent and the user say in them, and writes
how many CPU seconds each took: to make its environment, to play it, and to score it.
"""

import json
import sys
import time
from collections import deque

from loguru import logger

logger.remove()

from tau2.agent.base_agent import HalfDuplexAgent  # noqa: E402
from tau2.data_model.message import AssistantMessage, UserMessage  # noqa: E402
from tau2.data_model.simulation import TextRunConfig  # noqa: E402
from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation  # noqa: E402
from tau2.evaluator.evaluator_nl_assertions import NLAssertionsEvaluator  # noqa: E402
from tau2.orchestrator.orchestrator import Orchestrator  # noqa: E402
from tau2.registry import registry  # noqa: E402
from tau2.runner.build import _build_env_kwargs, build_environment  # noqa: E402
from tau2.user.user_simulator_base import HalfDuplexUser  # noqa: E402

NLAssertionsEvaluator.evaluate_nl_assertions = staticmethod(lambda trajectory, statements: [])


class Agent(HalfDuplexAgent):
    def __init__(self, tools, policy, turns):
        super().__init__(tools=tools, domain_policy=policy)
        self.turns = deque(turns)

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        return AssistantMessage(**self.turns.popleft(), cost=0.0), state


class User(HalfDuplexUser):
    def __init__(self, tools, turns):
        super().__init__(tools=tools)
        self.turns = deque(turns)

    def get_init_state(self, message_history=None):
        return None

    def generate_next_message(self, message, state):
        return UserMessage(**self.turns.popleft(), cost=0.0), state


def play(conversation, task):
    domain = conversation["domain"]
    config = TextRunConfig(
        domain=domain, agent="llm_agent", retrieval_config=conversation["retrieval"]
    )
    kwargs = _build_env_kwargs(config, task)
    environment = build_environment(domain, env_kwargs=kwargs)
    # As the official runner does for every user.
    has_tools = environment.user_tools is not None
    user_tools = environment.get_user_tools(include=task.user_tools) if has_tools else None
    orchestrator = Orchestrator(
        domain=domain,
        agent=Agent(environment.get_tools(), environment.get_policy(), conversation["agent"]),
        user=User(user_tools, conversation["user"]),
        environment=environment,
        task=task,
        max_steps=200,
        seed=300,
    )
    simulation = orchestrator.run()
    return evaluate_simulation(
        simulation=simulation,
        task=task,
        evaluation_type=EvaluationType.ALL,
        solo_mode=False,
        domain=domain,
        env_kwargs=kwargs,
    ).reward


conversations = [json.loads(line) for line in sys.stdin]
tasks = {}
for domain in {each["domain"] for each in conversations}:
    tasks |= {(domain, task.id): task for task in registry.get_tasks_loader(domain)(None)}
for _ in range(int(sys.argv[1])):
    for each in conversations:
        started = time.process_time()
        reward = play(each, tasks[each["domain"], each["task_id"]])
        seconds = time.process_time() - started
        print(json.dumps({"s": seconds, "reward": reward}), file=sys.stderr)
