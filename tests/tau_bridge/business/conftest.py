import copy

import pytest

from tau_bridge.business.scenarios import read_scenarios
from tau_bridge.business.world import BusinessWorld

GET = {
    "name": "get_order",
    "description": "Read an order.",
    "input_schema": {
        "type": "object",
        "properties": {"order_id": {"type": "string"}},
        "required": ["order_id"],
    },
    "annotations": {"readOnlyHint": True},
    "effect": {"kind": "get", "table": "orders", "key": "order_id"},
}
SET = {
    "name": "set_order",
    "description": "Change an order.",
    "input_schema": {
        "type": "object",
        "properties": {
            "order_id": {"type": "string"},
            "status": {"type": "string", "enum": ["open", "cancelled"]},
            "pieces": {"type": "integer", "minimum": 1},
        },
        "required": ["order_id"],
    },
    "effect": {
        "kind": "set",
        "table": "orders",
        "key": "order_id",
        "fields": {"status": "$status", "pieces": "$pieces"},
        "needs": {"locked": False},
    },
}
FIND = {
    "name": "find_orders",
    "description": "Search orders.",
    "input_schema": {
        "type": "object",
        "properties": {"item": {"type": "string"}, "status": {"type": "string"}},
    },
    "effect": {"kind": "find", "table": "orders", "key": "order_id", "by": ["item", "status"]},
}
ADD = {
    "name": "add_order",
    "description": "Make an order.",
    "input_schema": {
        "type": "object",
        "properties": {"item": {"type": "string"}, "like": {"type": "string"}},
        "required": ["item"],
    },
    "effect": {
        "kind": "insert",
        "table": "orders",
        "key": "order_id",
        "prefix": "O-",
        "fields": {"item": "$item", "status": "open"},
        "refers": {"like": "orders"},
    },
}
SHARED = {
    "request_approval": {
        "description": "Ask.",
        "input_schema": {
            "type": "object",
            "properties": {"subject_id": {"type": "string"}, "reason": {"type": "string"}},
            "required": ["subject_id"],
        },
        "effect": {"kind": "request_approval"},
    },
    "get_approval": {
        "description": "How it stands.",
        "input_schema": {
            "type": "object",
            "properties": {"approval_id": {"type": "string"}},
            "required": ["approval_id"],
        },
        "effect": {"kind": "get_approval"},
    },
    "escalate": {
        "description": "Hand over.",
        "input_schema": {
            "type": "object",
            "properties": {"subject_id": {"type": "string"}},
            "required": ["subject_id"],
        },
        "effect": {"kind": "escalate"},
    },
}
SCENARIO = {
    "id": "one",
    "process": "order_management",
    "title": "Cancel an order",
    "policy": "Be kind.",
    "tools": [GET, SET, FIND, ADD, *SHARED],
    "state": {
        "orders": {
            "O-1": {"item": "red lamp", "status": "open", "pieces": 2, "locked": False},
            "O-2": {"item": "lampshade", "status": "reopened", "pieces": 1, "locked": True},
        }
    },
    "opening": "Cancel O-1.",
    "expected": {"outcome": "allow", "must_say": [["O-1"]]},
    "gold": [{"say": "O-1"}],
}


@pytest.fixture
def make_content():
    """The content of a file with one scenario, changed as is said."""

    def make(**changes):
        scenario = copy.deepcopy({**SCENARIO, **changes})
        return {"shared_tools": copy.deepcopy(SHARED), "scenarios": [scenario]}

    return make


@pytest.fixture
def make_world(make_content):
    """A world of that scenario; `tool` changes the tool `set_order`."""

    def make(*, tool=None, **changes):
        content = make_content(**changes)
        if tool is not None:
            content["scenarios"][0]["tools"][1] |= tool
        [scenario] = read_scenarios(content).values()
        return BusinessWorld(scenario)

    return make
