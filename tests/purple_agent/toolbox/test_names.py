"""Which known name a slip stands for."""

import pytest

from purple_agent.toolbox.names import matching_name


@pytest.mark.parametrize(
    ("asked", "known", "meant"),
    [
        ("order_id", ["order_id", "order_ids"], "order_id"),
        ("orderId", ["order_id", "user_id"], "order_id"),
        ("cust_name", ["name", "customer_name"], "customer_name"),
        ("qty", ["quantity", "unit"], "quantity"),
        ("fetch_order", ["get_order", "get_user"], "get_order"),
        ("get_expence", ["get_expense", "list_users"], "get_expense"),
        ("get_order", ["get_order_v2", "get_user"], "get_order_v2"),
        ("quantity", ["item_id", "new_quantity"], "new_quantity"),
    ],
)
def test_a_slip_abbreviation_or_other_case_is_repaired(asked, known, meant):
    assert matching_name(asked, known) == meant


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("cust_name", ["name"]),
        ("unlock_account", ["lock_account"]),
        ("lock_account", ["unlock_account"]),
        ("deactivate_user", ["activate_user"]),
        ("reopen_case", ["open_case"]),
        ("min_amount", ["max_amount"]),
        ("from_account", ["to_account"]),
        ("enable_rule", ["disable_rule"]),
        ("address_1", ["address_2"]),
        ("order_idx", ["order_id1", "order_id2"]),
        ("req_id", ["request_id", "requestId"]),
        ("", ["name"]),
        ("name", []),
    ],
)
def test_what_is_not_sure_is_left_alone(asked, known):
    assert matching_name(asked, known) is None


def test_neither_two_near_names_nor_a_name_inside_another_is_a_match():
    assert matching_name("order_dates", ["order_date", "order_data"]) is None
    assert matching_name("customer", ["customer_billing_address"]) is None
