"""The JSON Schema of task files, for editors, and a file to begin with."""

from __future__ import annotations

from typing import Any, Final

from tau_bridge.task_files.checks import KINDS
from tau_bridge.task_files.model import TaskFile

_TEXT: Final = {"type": ["string", "number"]}
_TEXTS: Final = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}
_CALL: Final = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "arguments": {"type": "object"},
                "exact": {"type": "boolean"},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
    ]
}
_CALLS: Final = {"anyOf": [*_CALL["anyOf"], {"type": "array", "items": _CALL, "minItems": 1}]}
_ASK: Final = {
    "anyOf": [
        {"type": "string", "pattern": "->"},
        {
            "type": "object",
            "properties": {
                "caller": {"type": "string"},
                "callee": {"type": "string"},
                "contains": _TEXT,
            },
            "required": ["caller", "callee"],
            "additionalProperties": False,
        },
    ]
}
_ASKS: Final = {"anyOf": [*_ASK["anyOf"], {"type": "array", "items": _ASK, "minItems": 1}]}
_CHECKS: Final = {"$ref": "#/$defs/checks"}


def _parameters(name: str, *, more: str, least: float, most: float | None) -> dict[str, Any]:
    """Return the schema of a value that may stand alone, or beside one number."""
    bounds = {"minimum": least} | ({} if most is None else {"maximum": most})
    alone = {"type": "number"} if name == "value" else _TEXT
    inside = {
        "type": "object",
        "properties": {name: alone, more: {"type": "number", **bounds}},
        "required": [name],
        "additionalProperties": False,
    }
    return {"anyOf": [alone, inside]}


_VALUES: Final[dict[str, Any]] = {
    "equals": _TEXT,
    "contains": _TEXTS,
    "not_contains": _TEXTS,
    "matches": {"type": "string", "format": "regex"},
    "number": _parameters("value", more="tolerance", least=0, most=None),
    "one_of": _TEXTS,
    "json": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    "similar": _parameters("text", more="at_least", least=0, most=1),
    "calls": _CALLS,
    "not_calls": _CALLS,
    "calls_in_order": _CALLS,
    "asks": _ASKS,
    "not_asks": _ASKS,
    "asks_in_order": _ASKS,
    "max_calls": {"type": "integer", "minimum": 0},
    "latency_ms": {"type": "number", "exclusiveMinimum": 0},
    "state": {
        "type": "object",
        "additionalProperties": {"type": "object", "additionalProperties": {"type": "object"}},
    },
    "judge": _TEXT,
    "python": {"type": "string", "pattern": "^[A-Za-z_][\\w.]*:[A-Za-z_]\\w*$"},
    "any": _CHECKS,
    "all": _CHECKS,
}


def file_schema() -> dict[str, Any]:
    """Return the JSON Schema of the form in full."""
    if _VALUES.keys() != KINDS.keys():
        raise RuntimeError("every kind of check needs a schema")
    schema = TaskFile.model_json_schema()
    check = {
        "type": "object",
        "properties": {**_VALUES, "weight": {"type": "number", "exclusiveMinimum": 0}},
        "minProperties": 1,
        "additionalProperties": False,
    }
    definitions = schema["$defs"]
    definitions.pop("Expectation", None)
    definitions["check"] = check
    definitions["checks"] = {
        "anyOf": [
            {"$ref": "#/$defs/check"},
            {"type": "array", "items": {"$ref": "#/$defs/check"}, "minItems": 1},
        ]
    }
    task = definitions["Task"]
    task["properties"]["expect"] = _CHECKS
    task["properties"]["id"] = _TEXT
    task["required"] = ["prompt", "expect"]
    definitions["Gold"]["properties"]["answer"] = _TEXTS
    definitions["Gold"]["properties"]["asks"] = _ASKS
    definitions.pop("AskPattern", None)
    schema["required"] = ["tasks"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


TEMPLATE: Final = """\
# Check it: greenroom tasks check FILE
# Play it:  greenroom run --tasks FILE --agent http://127.0.0.1:9010
name: returns
system: You are the returns desk of a shop. Look an order up before you promise anything.

tables:
  orders:
    A-17: {status: delivered, total: 40.5}
    A-18: {status: shipped, total: 12}

tools:
  - name: get_order
    description: Look an order up.
    parameters: {type: object, properties: {order_id: {type: string}}, required: [order_id]}
    reads: {table: orders, key: order_id}
  - name: refund_order
    description: Pay an order back.
    parameters: {type: object, properties: {order_id: {type: string}}, required: [order_id]}
    results:
      - {when: {order_id: A-18}, give: it has not arrived yet, error: true}
    sets: {table: orders, key: order_id, values: {status: refunded}}

tasks:
  - id: refund
    prompt: I want my money back for order A-17.
    user: ["Yes, please."]
    expect:
      - calls_in_order: [get_order, {name: refund_order, arguments: {order_id: A-17}}]
      - contains: "40.5"
      - state: {orders: {A-17: {status: refunded}}}
    gold:
      calls:
        - {name: get_order, arguments: {order_id: A-17}}
        - {name: refund_order, arguments: {order_id: A-17}}
      answer: Your 40.5 euros are on their way.

  - id: too-early
    prompt: I want my money back for order A-18. It has not come yet.
    expect:
      - calls: get_order
      - state: {orders: {A-18: {status: shipped}}}
      - any:
          - contains: not arrived
          - contains: still on its way
    gold:
      calls: [{name: get_order, arguments: {order_id: A-18}}]
      answer: Order A-18 has not arrived, so I cannot refund it yet.
"""
