"""Task: one τ²-bench task as the official files describe it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from tau_bridge.messages import Lenient, Requestor

OfficialComponentName = Literal["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"]
"""The components of a τ²-bench reward, by their official names."""
DEFAULT_BASIS: tuple[OfficialComponentName, ...] = ("DB", "COMMUNICATE")
"""The reward basis of a task that names none."""


class EnvCall(Lenient):
    """A function to run on one side of the world."""

    env_type: Requestor
    func_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class EnvAssertion(EnvCall):
    """A function that answers whether the world is as it should be."""

    assert_value: bool = True
    message: str | None = None


class GoldAction(Lenient):
    """One action of the gold path."""

    action_id: str = ""
    requestor: Requestor = "assistant"
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    compare_args: tuple[str, ...] | None = None
    """The arguments that must be equal. None: those that the *call* gives; empty: none."""


class EvaluationCriteria(Lenient):
    """The criteria by which a conversation is judged."""

    actions: tuple[GoldAction, ...] | None = None
    env_assertions: tuple[EnvAssertion, ...] | None = None
    communicate_info: tuple[str, ...] | None = None
    nl_assertions: tuple[str, ...] | None = None
    reward_basis: tuple[OfficialComponentName, ...] = DEFAULT_BASIS


class InitializationData(Lenient):
    """Values merged into the databases before a conversation begins."""

    agent_data: dict[str, Any] | None = None
    user_data: dict[str, Any] | None = None


class InitialState(Lenient):
    """Differences of a world from the domain's default when the conversation begins."""

    initialization_data: InitializationData | None = None
    initialization_actions: tuple[EnvCall, ...] | None = None
    message_history: tuple[dict[str, Any], ...] | None = None
    """Earlier messages as recorded; read with `parse_messages`."""


class Instructions(Lenient):
    """The user's knowledge and wishes."""

    task_instructions: str = ""
    reason_for_call: str = ""
    known_info: str | None = None
    unknown_info: str | None = None


class UserScenario(Lenient):
    """The user and what they want: structured, or one text."""

    persona: str | None = None
    instructions: Instructions | str


class Description(Lenient):
    """A description of what a task tests, for readers of the data."""

    purpose: str | None = None
    relevant_policies: str | None = None
    notes: str | None = None


class Task(Lenient):
    """One task. `evaluation_criteria` is None where nothing is judged (the reward is then 1)."""

    id: str
    description: Description | str | None = None
    user_scenario: UserScenario
    ticket: str | None = None
    initial_state: InitialState | None = None
    evaluation_criteria: EvaluationCriteria | None = None
    user_tools: tuple[str, ...] | None = None
    """The tools that its user is offered; None: all of the domain's."""
    required_documents: tuple[str, ...] | None = None
    """The documents of a knowledge base that it takes, by title or id."""

    @property
    def playable_solo(self) -> bool:
        """Tell whether it can be played without a user: it has a ticket, and no user has spoken."""
        state = self.initial_state
        history = (state.message_history if state is not None else None) or ()
        return bool(self.ticket) and all(message.get("role") != "user" for message in history)


def parse_task(record: Mapping[str, Any]) -> Task:
    """Parse one record of `tasks.json`.

    Raises:
        pydantic.ValidationError: the record is not a τ² task.
    """
    return Task.model_validate(record)
