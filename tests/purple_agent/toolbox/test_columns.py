"""Columns that a tool does not know, and what they are surely meant to be."""

import pytest

from purple_agent.toolbox.columns import renamed_column, with_column

EMPLOYEE = ("employe_id", "employee_id")


@pytest.mark.parametrize(
    "complaint",
    [
        "no such column: employe_id. Columns: employee_id, amount, status",
        "Unknown column 'employe_id' in 'where clause'; available columns are employee_id and amount",
        'column "e.employe_id" does not exist (columns: "amount", "employee_id")',
        "unknown field employe_id. Fields: [amount, employee_id]",
    ],
)
def test_the_column_that_is_meant_is_read_from_the_complaint(complaint):
    assert renamed_column(complaint) == EMPLOYEE


@pytest.mark.parametrize(
    "complaint",
    [
        "no such column: employe_id",
        "no such column: colour. Columns: employee_id, amount",
        "no such column: start_date. Columns: start_date_a, start_date_b",
        "no such column: unlocked. Columns: locked, amount",
        "no such row: E1. Columns: employee_id",
        "",
    ],
)
def test_without_a_sure_reading_nothing_is_renamed(complaint):
    assert renamed_column(complaint) is None


def test_the_name_is_replaced_in_keys_lists_and_queries_and_nowhere_else():
    arguments = {
        "employe_id": "stays",
        "columns": ["employe_id", "amount"],
        "where": {"employe_id": "my_employe_id"},
        "sql": "SELECT e.employe_id FROM t WHERE employe_id = 'employe_id' AND old_employe_id = 1",
        "limit": 3,
    }
    assert with_column(arguments, *EMPLOYEE) == {
        "employe_id": "stays",
        "columns": ["employee_id", "amount"],
        "where": {"employee_id": "my_employe_id"},
        "sql": "SELECT e.employee_id FROM t WHERE employee_id = 'employe_id' AND old_employe_id = 1",
        "limit": 3,
    }
