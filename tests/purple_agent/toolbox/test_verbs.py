"""What the name of a tool says about it."""

import pytest

from purple_agent.toolbox.verbs import entity_of, is_write


@pytest.mark.parametrize(
    "name",
    ["get_expense", "findOrders", "look_up_user", "lookup", "list-all", "count", "checkStatus"],
)
def test_a_reading_verb_in_front_makes_a_read(name):
    assert not is_write(name)


@pytest.mark.parametrize("name", ["approve_expense", "order_get", "getter_set", "look_away", ""])
def test_any_other_name_may_write(name):
    assert is_write(name)


def test_what_the_provider_says_goes_before_the_verb():
    assert not is_write("approve_expense", read_only=True)
    assert is_write("get_expense", read_only=False)


@pytest.mark.parametrize(
    ("name", "entity"),
    [
        ("get_expense", "expense"),
        ("find_orders", "orders"),
        ("lookUpUserAccount", "user_account"),
        ("list_all_product_types", "all_product_types"),
        ("approve_expense", "expense"),
        ("get", "get"),
        ("escalate", "escalate"),
    ],
)
def test_a_tool_is_about_its_name_without_the_verb(name, entity):
    assert entity_of(name) == entity
