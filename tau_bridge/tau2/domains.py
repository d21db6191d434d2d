"""Domain: one τ²-bench domain, of which environments are made."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from tau_bridge.errors import UnknownDomainError
from tau_bridge.tau2.blueprint import Blueprint, Side
from tau_bridge.tau2.mock import DEFAULT_USER_DATABASE, mock_blueprint
from tau_bridge.tau2.retrieval import (
    DEFAULT_RETRIEVAL,
    RETRIEVALS,
    SEARCHING_TOOLS,
    RetrievalName,
)
from tau_bridge.tau2.schemas import tool_schema
from tau_bridge.tau2.tool_names import TOOL_NAMES
from tau_bridge.tau2.toolkits import (
    airline_blueprint,
    banking_blueprint,
    retail_blueprint,
    telecom_blueprint,
)

if TYPE_CHECKING:
    from tau_bridge.completion import ToolSchema
    from tau_bridge.tau2.data import DataSource
    from tau_bridge.tau2.knowledge import Knowledge
    from tau_bridge.tau2.tasks import Task


class Domain:
    """Toolkits over one source's databases.

    Safe to share between conversations: each gets an `Environment` of its own, and what all share
    is only read. Use `load_domain` to make one, and `replay.new_world` for a task's world.
    """

    def __init__(
        self,
        source: DataSource,
        name: str,
        blueprint: Blueprint,
        knowledge: Knowledge | None = None,
    ) -> None:
        self.name = name
        self.source = source
        self.blueprint = blueprint
        self.knowledge = knowledge
        missing = knowledge.retrieval.missing_tools if knowledge is not None else ()
        self.tool_names = TOOL_NAMES[name].without(missing)

    @property
    def searching_tools(self) -> frozenset[str]:
        """Return the tools that search documents."""
        return SEARCHING_TOOLS if self.knowledge is not None else frozenset()

    def policy(self, *, solo: bool = False, task: Task | None = None) -> str:
        """Return the policy that the agent is given; it may depend on the task.

        Raises:
            DataError: The data have no such policy.
        """
        if self.knowledge is not None:
            return self.knowledge.policy(task)
        return self.source.policy(self.name, solo=solo)

    @cached_property
    def agent_schemas(self) -> tuple[ToolSchema, ...]:
        """Return the schemas of the agent's tools, in the official order."""
        return _schemas(self.blueprint.agent)

    @cached_property
    def user_schemas(self) -> tuple[ToolSchema, ...]:
        """Return the schemas of the user's tools, in the official order; often none."""
        return _schemas(self.blueprint.user) if self.blueprint.user is not None else ()


def _schemas(side: Side) -> tuple[ToolSchema, ...]:
    return tuple(tool_schema(name, source) for name, source in side.sources().items())


def load_domain(
    source: DataSource, name: str, retrieval: RetrievalName = DEFAULT_RETRIEVAL
) -> Domain:
    """Load a domain over the databases of a data source; takes some seconds the first time.

    For all but mock this imports inspect-evals, whichever the source. The same source gives the
    same domain again: a service with many evaluations at once has its tools described once.

    Args:
        source: The data.
        name: The domain.
        retrieval: The way to its documents, where it has some.

    Raises:
        UnknownDomainError: The source has no such domain.
        DataError: Its databases cannot be used, or inspect-evals is not installed.
    """
    if name not in source.domains():
        raise UnknownDomainError(name, source.domains())
    return _domain(source, name, retrieval if source.has_documents(name) else None)


@lru_cache(maxsize=16)
def _domain(source: DataSource, name: str, retrieval: RetrievalName | None) -> Domain:
    if retrieval is None:
        return Domain(source, name, _blueprint(source, name))
    knowledge = source.knowledge(name, RETRIEVALS[retrieval])
    blueprint = banking_blueprint(source.database(name), knowledge)
    return Domain(source, name, blueprint, knowledge)


def _blueprint(source: DataSource, name: str) -> Blueprint:
    match name:
        case "airline":
            return airline_blueprint(source.database(name))
        case "retail":
            return retail_blueprint(source.database(name))
        case "telecom":
            return telecom_blueprint(source.database(name), source.database(name, user=True))
        case _:
            user = source.database(name, user=True)
            return mock_blueprint(source.database(name), user or DEFAULT_USER_DATABASE)
