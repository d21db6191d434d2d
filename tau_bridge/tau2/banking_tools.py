"""Tools of banking_knowledge in which the official engine 1.0.1 differs from inspect-evals.

The functions are methods: `self` is a toolkit with a `db`. Texts that agents read are the official
ones.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from datetime import datetime
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from tau_bridge.tau2.borrowing import copy_function
from tau_bridge.tau2.knowledge import Knowledge
from tau_bridge.tau2.tool_names import TOOL_NAMES

Method = Callable[..., Any]

_NAMES: Final = TOOL_NAMES["banking_knowledge"]
_CHANGED_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "get_bank_account_transactions_9173": (
        "bank account.\n",
        "bank account.\n\n"
        "        Transactions are returned in reverse chronological order (most recent\n"
        "        first).\n",
    ),
    "open_bank_account_4821": (
        "(string): Must be one of: 'checking', 'savings', 'business_checking', 'business_savings'",
        "(string): Type of account to open. Must be one of: 'checking' (personal checking), "
        "'savings' (personal savings), 'business_checking', 'business_savings'",
    ),
}
"""Replacements in the text that an agent gets when it unlocks a tool: from, to."""


def agent_tools(
    port: ModuleType, knowledge: Knowledge, queries: Mapping[str, Method]
) -> tuple[Method, ...]:
    """Return the agent's tools that replace ported ones, and those that search documents.

    Args:
        port: The module of the ported tools.
        knowledge: The documents.
        queries: The functions by which these tools query the database.
    """
    ported = port.BankingAgentTools
    transactions = copy_function(ported.get_bank_account_transactions_9173, "", queries)
    return (
        _calling(port),
        _documented(ported, _in_whole_dollars(ported.submit_credit_limit_increase_request_7392)),
        _documented(ported, _newest_first(transactions)),
        _documented(ported, ported.open_bank_account_4821),
        *search_tools(knowledge),
    )


def user_tools(port: ModuleType) -> tuple[Method, ...]:
    """Return the user's tools that replace ported ones; `port` is the module of these."""
    return call_discoverable_user_tool, _with_income_as_float(port)


def lean_queries(port: ModuleType) -> Mapping[str, Method]:
    """Return the port's functions that query a database, made to look at one table alone.

    The port's own look at every table, so that a conversation would get a copy of each.

    Args:
        port: The module of these functions.
    """

    def get_database(name: str, db: Any) -> Any:
        table = getattr(db, name, None)
        return None if table is None else table.data

    def list_databases(db: Any) -> list[str]:
        return list(vars(db))

    def copy(function: Method, **replaced: Method) -> Method:
        return copy_function(function, "", replaced, function.__name__)

    query_db = copy(port.query_db, get_database=get_database)
    return {
        "query_database_tool": copy(
            port.query_database_tool, list_databases=list_databases, query_db=query_db
        )
    }


def search_tools(knowledge: Knowledge) -> tuple[Method, ...]:
    """Return the tools by which an agent searches the documents; a domain may offer none of them."""

    def KB_search(self: Any, query: str) -> str:  # noqa: N802, D417 - shown to agents
        """Search the knowledge base for relevant documents.

        Args:
            query: The search query to find relevant documents
        """
        return knowledge.search(query, self.embedding_model)

    def grep(self: Any, pattern: str) -> str:  # noqa: ARG001, D417 - shown to agents
        """Search for a regex pattern in all knowledge base documents.

        Returns documents ranked by number of matches, with full content.

        Args:
            pattern: The regex pattern to search for (e.g., 'credit.*card', 'fee|charge')
        """
        return knowledge.grep(pattern)

    return KB_search, grep


def _calling(port: ModuleType) -> Method:
    def call_discoverable_agent_tool(self: Any, agent_tool_name: str, arguments: str = "{}") -> str:
        if agent_tool_name not in port.AGENT_DISCOVERABLE_TOOLS:
            return f"Error: Unknown agent tool '{agent_tool_name}'. This tool is not available."
        if agent_tool_name not in self.agent_unlocked_tools:
            return (
                f"Error: Tool '{agent_tool_name}' has not been unlocked. You must first use "
                "`unlock_discoverable_agent_tool` to unlock this tool before calling it."
            )
        try:
            # 33 and 33.0 are one number in JSON; ids and states must not depend on its spelling.
            given = json.loads(arguments, parse_int=float)
        except json.JSONDecodeError as exc:
            return f"Error: Invalid JSON in arguments: {exc}"
        try:
            result: str = getattr(self, agent_tool_name)(**given)
        except TypeError as exc:
            return f"Error: Invalid arguments: {exc}"
        # A call that only reads is logged where the gold path has it: it then has to be made,
        # while any other look at the data costs nothing.
        if _NAMES.changes_state(agent_tool_name) or agent_tool_name in self.logged_reads:
            key = port.generate_agent_discoverable_tool_id(agent_tool_name)
            record = {"tool_name": agent_tool_name, "status": "CALLED"}
            port.add_to_db("agent_discoverable_tools", key, record, db=self.db)
        return result

    return call_discoverable_agent_tool


def call_discoverable_user_tool(
    self: Any, discoverable_tool_name: str, arguments: str = "{}"
) -> str:
    """Make a call for the user of a tool that the agent gave."""
    name = discoverable_tool_name
    if name not in _NAMES.discoverable or name not in _NAMES.user:
        return f"Error: Unknown discoverable tool '{name}'."
    try:
        given = json.loads(arguments, parse_int=float)
    except json.JSONDecodeError as exc:
        return f"Error: Invalid JSON in arguments: {exc}"
    tool = getattr(self, name)
    parameters = inspect.signature(tool).parameters
    for key, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and key not in given:
            return f"Error: Missing required parameter: {key}"
    for key in given:
        if key not in parameters:
            return f"Error: Unexpected parameter: {key}"
    try:
        result: str = tool(**given)
    except TypeError as exc:
        return f"Error: Invalid arguments for tool '{name}': {exc}"
    return result


def _in_whole_dollars(ported: Method) -> Method:
    def submit_credit_limit_increase_request_7392(
        self: Any, credit_card_account_id: str, user_id: str, requested_increase_amount: int
    ) -> Any:
        amount: Any = requested_increase_amount
        if credit_card_account_id and user_id and amount is not None:
            try:
                amount = float(amount)
            except (TypeError, ValueError):
                return "Error: Invalid requested_increase_amount. Must be a whole number."
            if not amount.is_integer():
                return (
                    "Error: Invalid requested_increase_amount. Must be a whole number of dollars."
                )
            amount = int(amount)
        return ported(self, credit_card_account_id, user_id, amount)

    return submit_credit_limit_increase_request_7392


def _newest_first(ported: Method) -> Method:
    def get_bank_account_transactions_9173(self: Any, account_id: str) -> Any:
        table = self.db.bank_account_transaction_history
        # Stable: of one day, what is stored first is the newer.
        of_account = (
            each for each in table.data.items() if each[1].get("account_id") == account_id
        )
        newest_first = dict(sorted(of_account, key=_date_of, reverse=True))
        shown = SimpleNamespace(data=newest_first, notes=table.notes)
        tables = {**vars(self.db), "bank_account_transaction_history": shown}
        return ported(SimpleNamespace(db=SimpleNamespace(**tables)), account_id)

    return get_bank_account_transactions_9173


def _date_of(item: tuple[str, Mapping[str, Any]]) -> datetime:
    for form in ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y"):
        try:
            # A day in a table without time zones, compared with nothing but its like.
            return datetime.strptime(str(item[1].get("date", "")), form)  # noqa: DTZ007
        except ValueError:
            continue
    return datetime.min  # noqa: DTZ901 - as above


def _with_income_as_float(port: ModuleType) -> Method:
    def apply_for_credit_card(
        self: Any,
        card_type: str,
        customer_name: str,
        annual_income: float,
        rho_bank_subscription: bool = False,
    ) -> Any:
        if card_type in port.VALID_CREDIT_CARD_TYPES:
            try:
                annual_income = float(annual_income)
            except (TypeError, ValueError):
                return "Error: Invalid annual_income. Must be a number."
        return port.BankingUserTools.apply_for_credit_card(
            self, card_type, customer_name, annual_income, rho_bank_subscription
        )

    return apply_for_credit_card


def _documented(ported: Any, function: Method) -> Method:
    """Return a copy of a function with the text that the official engine shows of it."""
    name = function.__name__
    copied = copy_function(function, ported.__name__)
    text = str(getattr(ported, name).__doc__)
    copied.__doc__ = text.replace(*_CHANGED_TEXTS[name]) if name in _CHANGED_TEXTS else text
    return copied
