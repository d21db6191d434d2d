"""Environment: both sides of one task's world, and the calls that reach them."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any

import anyio.to_thread

from tau_bridge.completion import ToolSchema
from tau_bridge.embedding import EmbeddingModel
from tau_bridge.errors import EmbeddingError, HarnessError
from tau_bridge.messages import Requestor, ToolCall, ToolMessage
from tau_bridge.tau2.blueprint import Sides, Toolkit
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.rendering import render
from tau_bridge.tau2.tables import differences, updated
from tau_bridge.tau2.tasks import EnvAssertion, EnvCall, InitializationData, Task

_log = logging.getLogger(__name__)


class Environment:
    """The agent's and the user's tools over one task's databases.

    It is made in the domain's default state; `replay.new_world` brings one into a task's.

    Raises:
        HarnessError: The domain's data do not fit together.
    """

    def __init__(
        self, domain: Domain, *, solo: bool = False, embedding_model: EmbeddingModel | None = None
    ) -> None:
        agent, user = domain.blueprint.agent, domain.blueprint.user
        self.domain = domain
        self.solo = solo
        self._task: Task | None = None
        tools: Any = agent.toolkit(agent.new_database())
        if domain.knowledge is not None:
            tools.embedding_model = embedding_model
        shared = tools.db if domain.blueprint.shares_database else None
        self.sides = Sides(
            tools=tools,
            user_tools=user.toolkit(shared or user.new_database()) if user is not None else None,
        )
        self.settle()

    def adapt_to(self, task: Task) -> None:
        """Set what depends on the task besides its initial state: toolkits, policy, user's tools.

        Raises:
            HarnessError: The task names tools for the user that there are not.
        """
        self._task = task
        known = self.domain.tool_names.user
        unknown = [name for name in task.user_tools or () if name not in known]
        if unknown:
            raise HarnessError(
                f"task {task.id!r} gives its user the tools {', '.join(unknown)}, which "
                f"{self.domain.name} has not"
            )
        if self.domain.blueprint.adapt is not None:
            self.domain.blueprint.adapt(self.sides, task)

    @property
    def policy(self) -> str:
        """Return the policy as the agent is given it."""
        return self.domain.policy(solo=self.solo, task=self._task)

    @property
    def agent_tools(self) -> tuple[ToolSchema, ...]:
        """Return the schemas of the agent's tools (in solo mode: the user's too)."""
        agent, user = self.domain.agent_schemas, self.domain.user_schemas
        return agent + user if self.solo else agent

    @property
    def user_tools(self) -> tuple[ToolSchema, ...]:
        """Return the schemas of the tools that the user is offered; none in solo mode."""
        if self.solo:
            return ()
        offered = self._task.user_tools if self._task is not None else None
        every = self.domain.user_schemas
        return every if offered is None else tuple(t for t in every if _name(t) in offered)

    def respond(self, call: ToolCall) -> ToolMessage:
        """Make a call; whatever the tool raises becomes an error result.

        Synchronises after a success. A failed call keeps what it had changed before it failed.

        Raises:
            HarnessError: Not the tool but the assessor, or the domain's data, broke.
            EmbeddingError: The model behind a search broke.
        """
        error = False
        try:
            value = self.call(call.name, call.requestor, call.arguments)
            self.sync()
        except (HarnessError, EmbeddingError):
            raise
        except Exception as exc:  # noqa: BLE001 - the official engine shows any error to the caller
            value, error = f"Error: {exc}", True
        return ToolMessage(id=call.id, content=render(value), requestor=call.requestor, error=error)

    async def respond_off_loop(self, call: ToolCall) -> ToolMessage:
        """Make a call as `respond` does; searches of documents take long, and leave the loop."""
        if call.name in self.domain.searching_tools:
            return await anyio.to_thread.run_sync(self.respond, call)
        return self.respond(call)

    def call(self, name: str, requestor: Requestor, arguments: dict[str, Any]) -> Any:
        """Call a tool for one side, without synchronising.

        Raises:
            ValueError: That side has no such tool, or there is no user.
            Exception: Whatever the tool raises.
        """
        return self._tool(name, requestor)(**arguments)

    def _tool(self, name: str, requestor: Requestor) -> Callable[..., Any]:
        names = self.domain.tool_names
        if requestor == "user" and self.solo:
            raise ValueError("User tool calls are not allowed in solo mode")
        on_user_side = requestor == "user" or (self.solo and name in names.user)
        if on_user_side and self.sides.user_tools is None:
            raise ValueError("User tools not available")
        if name not in (names.user if on_user_side else names.agent):
            raise ValueError(f"Tool '{name}' not found.")
        tool: Callable[..., Any] = getattr(
            self.sides.user_tools if on_user_side else self.sides.tools, name
        )
        return tool

    def sync(self) -> None:
        """Let each side's state follow the other's, where the domain says how."""
        if self.domain.blueprint.sync is not None:
            self.domain.blueprint.sync(self.sides)

    def settle(self) -> None:
        """Synchronise outside of a call.

        Raises:
            HarnessError: The states do not fit together.
        """
        _run_guarded(self.sync, {})

    def attempt(self, name: str, requestor: Requestor, arguments: dict[str, Any]) -> None:
        """Call a tool without synchronising; a failure changes nothing more and is logged."""
        try:
            self.call(name, requestor, arguments)
        except HarnessError:
            raise
        except Exception as exc:  # noqa: BLE001 - some official gold actions fail, harmlessly
            _log.debug("gold action %s failed: %s", name, exc)

    def initialise(self, data: InitializationData) -> None:
        """Merge a task's data into the databases.

        As in the official engine, both sides then share one database: the one that was changed
        last.

        Raises:
            HarnessError: The data do not fit.
        """
        tools, user_tools = self.sides.tools, self.sides.user_tools
        if data.agent_data is not None:
            tools.db = updated(tools.db, data.agent_data)
            if user_tools is not None:
                user_tools.db = tools.db
        if data.user_data is not None:
            if user_tools is None:
                raise HarnessError(
                    f"the task has data for the user's side, which {self.domain.name} has not"
                )
            user_tools.db = updated(user_tools.db, data.user_data)
            tools.db = user_tools.db

    def run(self, call: EnvCall) -> Any:
        """Call a function that the task names, and synchronise afterwards.

        Any public function of that side will do, not tools alone.

        Raises:
            HarnessError: There is no such function, or it raised.
        """
        side: Toolkit | None
        side = self.sides.tools if call.env_type == "assistant" else self.sides.user_tools
        function = getattr(side, call.func_name, None)
        if call.func_name.startswith("_") or not inspect.ismethod(function):
            raise HarnessError(
                f"the task names {call.func_name!r}, which the {call.env_type}'s side has not"
            )
        value = _run_guarded(function, call.arguments)
        self.settle()
        return value

    def holds(self, assertion: EnvAssertion) -> bool:
        """Tell whether an assertion of the task is met.

        Raises:
            HarnessError: It raised, or answered with something else than yes or no.
        """
        value = self.run(assertion)
        if not isinstance(value, bool):
            raise HarnessError(
                f"{assertion.func_name} answered with a {type(value).__name__}, not with a bool"
            )
        return value == assertion.assert_value

    def differences(self, other: Environment) -> tuple[str, ...]:
        """Say where the databases of two environments of one domain differ; empty where equal."""
        mine, theirs = self.sides, other.sides
        found = [f"agent's {place}" for place in differences(mine.tools.db, theirs.tools.db)]
        if self.domain.blueprint.shares_database:
            return tuple(found)
        if mine.user_tools is not None and theirs.user_tools is not None:
            there = differences(mine.user_tools.db, theirs.user_tools.db)
            found += [f"user's {place}" for place in there]
        return tuple(found)


def _name(tool: ToolSchema) -> str:
    return str(tool["function"]["name"])


def _run_guarded(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    # For what the task's data ask for: its errors are not the agent's, and no caller reads them.
    try:
        return function(**arguments)
    except HarnessError:
        raise
    except Exception as exc:
        raise HarnessError(
            f"{function.__name__}({dict(arguments)}) raised {type(exc).__name__}: {exc}"
        ) from exc
