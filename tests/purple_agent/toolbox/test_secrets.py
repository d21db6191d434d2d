"""Secret fields in the results of tools."""

import json

import pytest

from purple_agent.case import ToolResult
from purple_agent.toolbox.secrets import WITHHELD, is_secret, without_secrets


@pytest.mark.parametrize(
    "field",
    ["password", "userPassword", "PIN", "card_cvv", "api_key", "privateKey", "token", "auth-token"],
)
def test_a_field_that_holds_a_secret_is_known_by_its_name(field):
    assert is_secret(field)


@pytest.mark.parametrize(
    "field",
    ["", "key", "primary_key", "total_tokens", "page_token", "password_changed_at", "ping", "name"],
)
def test_other_fields_hold_none(field):
    assert not is_secret(field)


def test_values_of_secret_fields_are_withheld_at_any_depth():
    record = {"users": [{"name": "Ann", "pin": 4321, "login": {"password": "walnut"}}]}
    found = without_secrets(ToolResult(text=json.dumps(record), value=record))
    cleared = {"users": [{"name": "Ann", "pin": WITHHELD, "login": {"password": WITHHELD}}]}
    assert found.value == cleared
    assert json.loads(found.text) == cleared


@pytest.mark.parametrize("value", [{"password": True}, {"pin": None, "token": ""}, ["a"], "PIN: 1"])
def test_a_result_without_secrets_stays_as_it_is(value):
    result = ToolResult(text=" as it came ", value=value)
    assert without_secrets(result) is result
