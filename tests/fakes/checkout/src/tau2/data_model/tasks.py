"""Tasks."""

from enum import Enum

from pydantic import BaseModel


class RewardType(str, Enum):
    NL_ASSERTION = "NL_ASSERTION"


class Criteria(BaseModel):
    actions: list | None = None
    env_assertions: list | None = None
    reward_basis: list = ["DB"]


class Task(BaseModel):
    id: str
    user_scenario: dict
    evaluation_criteria: Criteria | None = None
    initial_state: None = None
    user_tools: list | None = None
