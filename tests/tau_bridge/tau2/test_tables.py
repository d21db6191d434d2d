"""Copy-on-write databases: what is shared, what is private, and how two are compared."""

import pytest
from pydantic import BaseModel

from tau_bridge.errors import HarnessError
from tau_bridge.tau2.tables import SharedRows, TableDatabase, differences, updated


class Order(BaseModel):
    order_id: str
    amount: float
    tags: dict[str, int] = {}


ROWS = {
    "orders": SharedRows(
        "orders",
        Order,
        {
            "#1": {"order_id": "#1", "amount": 10, "tags": {"a": 1, "b": 2}},
            "#2": {"order_id": "#2", "amount": 20},
        },
    )
}


@pytest.fixture
def database():
    return TableDatabase(ROWS)


def test_a_changed_row_is_seen_by_its_own_database_only(database):
    database.orders["#1"].amount = 99.0
    assert database.orders["#1"].amount == 99.0
    assert TableDatabase(ROWS).orders["#1"].amount == 10.0


def test_searching_copies_nothing_and_sees_private_rows(database):
    database.orders["#2"].amount = 1.0
    assert [row.amount for row in database.orders.values()] == [10.0, 1.0]
    assert [key for key, _ in database.orders.items()] == ["#1", "#2"]
    assert list(database.orders.own) == ["#2"]


def test_a_new_row_comes_after_the_shared_ones(database):
    database.orders["#0"] = Order(order_id="#0", amount=0)
    assert list(database.orders) == ["#1", "#2", "#0"]
    assert len(database.orders) == 3
    assert "#0" in database.orders
    assert "#0" not in TableDatabase(ROWS).orders


def test_a_missing_row_is_a_key_error(database):
    with pytest.raises(KeyError):
        database.orders["#9"]


def test_an_invalid_row_of_the_data_is_a_fault_of_the_harness_not_of_a_tool():
    rows = SharedRows("orders", Order, {"#1": {"order_id": "#1", "amount": "much"}})
    with pytest.raises(HarnessError, match="row '#1' of table 'orders'"):
        TableDatabase({"orders": rows}).orders["#1"]


def test_looked_up_rows_do_not_make_databases_differ(database):
    database.orders["#1"].tags  # noqa: B018 - the access alone matters
    assert differences(database, TableDatabase(ROWS)) == ()


def test_differing_rows_are_named(database):
    other = TableDatabase(ROWS)
    database.orders["#1"].amount = 11.0
    other.orders["#3"] = Order(order_id="#3", amount=1)
    assert differences(database, other) == ("orders['#1']", "orders['#3']")
    assert differences(other, database) == ("orders['#1']", "orders['#3']")


@pytest.mark.parametrize("amount", [10, "10.0", True, None, {"a": 1}])
def test_values_compare_by_their_json_text_without_a_warning(database, amount):
    database.orders["#1"].amount = amount
    assert differences(database, TableDatabase(ROWS)) == ("orders['#1']",)


def test_the_order_of_keys_inside_of_a_row_does_not_matter(database):
    database.orders["#1"].tags = {"b": 2, "a": 1}
    assert differences(database, TableDatabase(ROWS)) == ()


def test_initialization_data_merge_into_rows_and_leave_the_old_database_alone(database):
    new = updated(
        database,
        {"orders": {"#1": {"tags": {"b": 5}}, "#7": {"order_id": "#7", "amount": 7}}},
    )
    assert new.orders["#1"].tags == {"a": 1, "b": 5}
    assert new.orders["#7"].amount == 7.0
    assert differences(database, TableDatabase(ROWS)) == ()


@pytest.mark.parametrize(
    "data",
    [
        {"customers": {}},
        {"orders": ["#1"]},
        {"orders": {"#1": {"amount": "much"}}},
        {"orders": {"#8": {"amount": 1}}},
        {"orders": {"#8": "text"}},
    ],
)
def test_initialization_data_that_do_not_fit_are_a_fault_of_the_harness(database, data):
    with pytest.raises(HarnessError):
        updated(database, data)


def test_plain_models_name_the_fields_that_differ():
    one = Order(order_id="#1", amount=1)
    other = one.model_copy(update={"amount": 2.0})
    assert differences(one, one.model_copy()) == ()
    assert differences(one, other) == ("amount",)


def test_databases_of_different_kinds_differ(database):
    assert differences(database, Order(order_id="#1", amount=1)) == ("the kind of database",)
