"""Tools, and texts about tools, in which the official engine differs from inspect-evals.

The functions are methods: `self` is a toolkit with a `db`. Descriptions and error texts are the
official ones, because agents read them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from tau_bridge.tau2.arithmetic import calculate as _evaluate


def calculate(self: Any, expression: str) -> str:  # noqa: ARG001 - a method
    """Evaluate an arithmetic expression; see `arithmetic.calculate` for the errors."""
    return _evaluate(expression)


def transfer_to_human_agents(self: Any, summary: str) -> str:  # noqa: ARG001 - a method
    """Answer an agent that hands the user over."""
    return "Transfer successful"


def get_item_details(self: Any, item_id: str) -> Any:  # noqa: D417 - shown to agents
    """Get the inventory details of an item.

    Args:
        item_id: The item id, such as '6086499569'. Be careful the item id is different from the product id.
    """
    for product in self.db.products.values():
        if item_id in product.variants:
            return product.variants[item_id]
    raise ValueError("Item not found")


def list_all_product_types(self: Any) -> str:
    """Return product names and ids as JSON, sorted by name."""
    products = self.db.products.values()
    return json.dumps({product.name: product.product_id for product in products}, sort_keys=True)


_FINDERS = {
    "L": "_get_line_by_id",
    "D": "_get_device_by_id",
    "B": "_get_bill_by_id",
    "C": "get_customer_by_id",
    "P": "_get_plan_by_id",
}


def get_details_by_id(self: Any, id: str) -> Any:  # noqa: A002 - the tool's parameter
    """Find the telecom record with this id; its first letter says of which kind it is."""
    for prefix, finder in _FINDERS.items():
        if id.startswith(prefix):
            return getattr(self, finder)(id)
    raise ValueError(f"Unknown ID format or type: {id}")


PARAMETER_TEXTS: Mapping[str, Mapping[str, str | None]] = MappingProxyType(
    {
        "book_reservation": {
            "flights": "An array of objects containing details about each piece of flight.",
            "passengers": "An array of objects containing details about each passenger.",
            "payment_methods": "An array of objects containing details about each payment method.",
        },
        "update_reservation_flights": {
            "flights": (
                "An array of objects containing details about each piece of flight in the ENTIRE "
                "new reservation. Even if the a flight segment is not changed, it should still be "
                "included in the array."
            ),
        },
        "update_reservation_passengers": {
            "passengers": "An array of objects containing details about each passenger.",
        },
        "set_network_mode_preference": {"mode": None},
        "set_apn_settings": {"apn_settings": None},
        "check_app_status": {"app_name": None},
        "check_app_permissions": {"app_name": None},
        "transfer_to_human_agents": {"reason": "The specific reason code for the transfer."},
        "give_discoverable_user_tool": {
            "discoverable_tool_name": (
                'The name of the discoverable tool (e.g., "open_webpage", "navigate_to_section")'
            ),
            "arguments": (
                'JSON string of arguments for the tool (e.g., \'{"url": "https://example.com"}\')'
            ),
        },
        "unlock_discoverable_agent_tool": {
            "agent_tool_name": (
                "The name of the agent discoverable tool to unlock\n"
                '(e.g., "calculate_apr_adjustment_7842")'
            ),
        },
        "call_discoverable_agent_tool": {
            "arguments": (
                'JSON string of arguments for the tool (e.g., \'{"user_id": "abc123"}\')'
            ),
        },
        "call_discoverable_user_tool": {
            "discoverable_tool_name": (
                'The name of the discoverable tool to call (e.g., "open_webpage")'
            ),
            "arguments": (
                'JSON string of arguments for the tool (e.g., \'{"url": "https://example.com"}\')'
            ),
        },
    }
)
"""The official schema's descriptions of parameters, by tool; None: no description."""

DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "refuel_data": (
            "Refuels data for a specific line, adding to the customer's bill.\n\n"
            "Checks: Line status must be Active, Customer owns the line.\n"
            "Logic: Adds data to the line and charges customer based on the plan's refueling rate."
        ),
    }
)
"""The official descriptions, by tool."""
