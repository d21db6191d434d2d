"""Lists out of what was read, for requests that ask for a JSON list."""

import pytest

from purple_agent.case import Case, Dialect, Entry, Incoming, Session, ToolCall, ToolResult
from purple_agent.stages.listing import list_read

ORDERS = [
    {"order_id": "A-1", "status": "open", "total_price": 5, "customer": "Ann"},
    {"order_id": "B-2", "status": "closed", "total_price": 7, "customer": "Bo"},
    {"order_id": "C-3", "status": "open", "total_price": 9, "customer": "Cy"},
]


def read(request, *values, failed=False):
    session = Session(context_id="c", dialect=Dialect.BUSINESS)
    session.entries.append(Entry(role="user", text=request))
    for value in values:
        call = ToolCall(id="call-1", name="list_orders", arguments={})
        result = ToolResult(text="", value=value, failed=failed)
        session.entries += [
            Entry(role="call", call=call),
            Entry(role="result", call=call, result=result),
        ]
    incoming = Incoming(context_id="c", message_id="m", text=request)
    return list_read(Case(incoming=incoming, session=session))


@pytest.mark.parametrize(
    ("request_text", "listed"),
    [
        ("Give me the order ids as a JSON array", ["A-1", "B-2", "C-3"]),
        ("All orders as a JSON list", ["A-1", "B-2", "C-3"]),
        ("The open orders as a JSON list", ["A-1", "C-3"]),
        ("The total prices as a JSON list", [5, 7, 9]),
        ("Customers with closed orders, as a JSON array", ["Bo"]),
    ],
)
def test_a_list_is_of_the_field_and_of_the_records_that_are_named(request_text, listed):
    assert read(request_text, ORDERS) == listed
    assert read(request_text, {"count": 3, "orders": ORDERS}) == listed


def test_plain_values_are_the_list_itself_and_the_latest_list_counts():
    assert read("ids as a JSON list", ["X"], ["A", "B"]) == ["A", "B"]
    assert read("ids as a JSON list", []) == []


@pytest.mark.parametrize(
    "value", [None, "A, B", {"a": [1], "b": [2]}, [["A"]], [{"a": 1}, {"b": 2}]]
)
def test_anything_else_is_no_list(value):
    assert read("ids as a JSON list", value) is None


def test_of_a_call_that_failed_nothing_is_listed():
    assert read("ids as a JSON list", ORDERS, failed=True) is None


def test_two_fields_that_are_named_are_no_single_list():
    assert read("customer and total price as a JSON list", ORDERS) is None
