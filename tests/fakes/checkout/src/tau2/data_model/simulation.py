"""Simulations."""

from enum import Enum

from pydantic import BaseModel
from tau2.data_model.message import Message


class TerminationReason(str, Enum):
    USER_STOP = "user_stop"
    MAX_STEPS = "max_steps"


class SimulationRun(BaseModel):
    id: str
    task_id: str
    start_time: str = ""
    end_time: str = ""
    duration: float = 0.0
    termination_reason: TerminationReason
    messages: list[Message]


class NLAssertionCheck(BaseModel):
    nl_assertion: str
    met: bool
    justification: str


class RewardInfo(BaseModel):
    reward: float
    db_check: dict


class TextRunConfig(BaseModel):
    domain: str
    agent: str
    retrieval_config: str | None = None
