"""The evaluation: a conversation is worth 1 if `ring` was called once."""

from enum import Enum

from tau2.data_model.simulation import RewardInfo


class EvaluationType(str, Enum):
    ALL = "all"
    ALL_WITH_NL_ASSERTIONS = "all_with_nl_assertions"


def evaluate_simulation(simulation, task, evaluation_type, solo_mode, domain, env_kwargs=None):
    called = [
        call.name
        for message in simulation.messages
        if message.role == "assistant"
        for call in message.tool_calls or ()
    ]
    if "break_down" in called:
        raise ValueError("this cannot be scored")
    met = called.count("ring") == 1
    return RewardInfo(reward=float(met), db_check={"db_match": met, "db_reward": float(met)})
