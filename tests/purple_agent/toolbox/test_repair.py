"""How calls are put into the words of the tools."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purple_agent.toolbox.repair import cast_value, repaired
from purple_agent.toolbox.specs import read_listing
from tests.purple_agent.toolbox.servers import called, described


def fix(call, *tools):
    return repaired(call, read_listing(list(tools)).specs)


ORDER = described("get_order", order_id="string", required=("order_id",))
PAY = described("pay_invoice", invoice_id="string", amount="number", required=("invoice_id",))


def test_a_sound_call_stays_as_it_is():
    call = called("get_order", order_id="O1")
    ready = fix(call, ORDER)
    assert (ready.call, ready.changes, ready.problems) == (call, (), ())


def test_names_of_tools_and_parameters_are_repaired_and_told():
    ready = fix(called("fetchOrder", orderId="O1"), ORDER, PAY)
    assert ready.call == called("get_order", order_id="O1")
    assert ready.changes == (
        "tool 'fetchOrder' -> 'get_order'",
        "parameter 'orderId' -> 'order_id'",
    )


def test_an_id_without_a_name_is_that_of_what_the_tool_is_about():
    assert fix(called("get_order", id="O1"), ORDER).call == called("get_order", order_id="O1")


def test_a_read_never_becomes_a_write():
    ready = fix(called("get_pay_invoice"), described("set_pay_invoice"))
    assert ready.problems == ("there is no tool 'get_pay_invoice'",)


def test_a_write_becomes_only_a_write_with_the_same_verb():
    assert fix(called("pay_invoices", invoice_id="I1"), PAY).call.name == "pay_invoice"
    assert fix(called("say_invoice", invoice_id="I1"), PAY).problems == (
        "there is no tool 'say_invoice'",
    )
    assert fix(called("modify_order"), described("update_order")).call.name == "update_order"


def test_two_arguments_that_want_one_parameter_keep_their_names():
    ready = fix(called("get_order", orderId="O1", order_identifier="O2"), ORDER)
    assert ready.problems == ("'get_order' needs the parameter 'order_id'",)
    assert ready.call.arguments == {"orderId": "O1", "order_identifier": "O2"}


def test_a_value_of_another_type_does_not_take_a_name():
    ready = fix(called("pay_invoice", invoice_id="I1", amt="a lot"), PAY)
    assert ready.call.arguments == {"invoice_id": "I1", "amt": "a lot"}


def test_a_parameter_that_a_closed_schema_does_not_know_is_a_problem():
    closed = described("get_order", order_id="string")
    closed["input_schema"]["additionalProperties"] = False
    ready = fix(called("get_order", order_id="O1", colour="red"), closed)
    assert ready.problems == ("'get_order' has no parameter 'colour'",)


@pytest.mark.parametrize(
    ("value", "kind", "cast"),
    [
        ("5", "integer", 5),
        (5.0, "integer", 5),
        (2.0**53 - 1, "integer", 2**53 - 1),
        ("-12", "integer", -12),
        ("5.50", "number", 5.5),
        ("5", "number", 5),
        ("True", "boolean", True),
        (5, "string", "5"),
        ('["a"]', "array", ["a"]),
        ('{"a": 1}', "object", {"a": 1}),
        ("5", ["null", "integer"], 5),
    ],
)
def test_a_value_that_says_the_same_in_the_right_type_is_given_in_it(value, kind, cast):
    found = cast_value(value, {"type": kind})
    assert (found, type(found)) == (cast, type(cast))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("5.0", "integer"),
        ("007", "integer"),
        (" 5", "integer"),
        ("1e3", "number"),
        ("0.12345678901234567", "number"),
        ("inf", "number"),
        (5.5, "integer"),
        (2.0**53, "integer"),
        (-(2.0**53), "integer"),
        (True, "integer"),
        (1, "boolean"),
        ("yes", "boolean"),
        (True, "string"),
        (5.0, "string"),
        (None, "string"),
        ("a, b", "array"),
        ('["a"]', "object"),
        ("5", "string"),
        ("5", ["string", "integer"]),
    ],
)
def test_a_value_that_would_change_by_it_is_left_alone(value, kind):
    found = cast_value(value, {"type": kind})
    assert (found, type(found)) == (value, type(value))


@given(st.integers() | st.floats(allow_nan=False) | st.text(max_size=8) | st.booleans())
def test_a_cast_value_still_says_the_same(value):
    for kind in ("integer", "number", "boolean", "string"):
        found = cast_value(value, {"type": kind})
        if type(found) is not type(value):
            said = json.dumps(found).strip('"')
            assert said == str(value).lower() or Decimal(said) == Decimal(str(value))
