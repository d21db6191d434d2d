"""Databases of plain records."""

import pytest

from tau_bridge.errors import DataError, HarnessError
from tau_bridge.tau2.records import record_database_factory

CONTENT = {"users": {"data": {"u1": {"name": "Ada", "cards": {"gold": 1}}}, "notes": "two"}}


@pytest.fixture
def new():
    return record_database_factory(["users", "loans"], CONTENT, "bank")


def test_databases_of_one_content_are_equal_and_independent(new):
    one, other = new(), new()
    assert one.differences(other) == ()
    next(iter(one.users.data.values()))["name"] = "Eve"  # as tools write in loops
    assert one.differences(other) == other.differences(one) == ("users['u1']",)
    assert new().users.data["u1"]["name"] == "Ada"


def test_a_table_that_the_content_lacks_is_empty(new):
    assert (new().loans.data, new().loans.notes, new().users.notes) == ({}, "", "two")


@pytest.mark.parametrize(("one", "other"), [(2, 2.0), (2, "2"), (True, 1)])
def test_records_compare_by_their_json_text(new, one, other):
    first, second = new(), new()
    first.loans.data["l"], second.loans.data["l"] = {"sum": one}, {"sum": other}
    assert first.differences(second) == ("loans['l']",)


def test_a_record_that_is_missing_on_one_side_is_a_difference(new):
    one = new()
    del one.users.data["u1"]
    assert one.differences(new()) == ("users['u1']",)


def test_changes_are_merged_into_a_database_of_its_own(new):
    change = {"users": {"data": {"u1": {"cards": {"eco": 2}}}}}
    before = new()
    before.loans.data["l"] = {"sum": 1}
    one, other = before.updated(change), before.updated(change)
    assert one.users.data["u1"] == {"name": "Ada", "cards": {"gold": 1, "eco": 2}}
    assert one.loans.data == {"l": {"sum": 1}}
    one.users.data["u1"]["cards"]["eco"] = 3
    assert other.users.data["u1"]["cards"]["eco"] == 2
    assert change == {"users": {"data": {"u1": {"cards": {"eco": 2}}}}}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "an object of tables, not a list"),
        ({"cars": {"data": {}}}, "has a table 'cars'"),
        ({"users": {"rows": {}}}, "'users' must be an object with `data`"),
        ({"users": {"data": {"u1": 5}}}, "record 'u1' of table 'users' must be an object"),
    ],
)
def test_what_is_no_database_is_refused_with_the_place(new, content, said):
    with pytest.raises(DataError, match=f"database of bank.*{said}"):
        record_database_factory(["users"], content, "bank")
    if content:
        with pytest.raises(HarnessError, match=said):
            new().updated(content)
