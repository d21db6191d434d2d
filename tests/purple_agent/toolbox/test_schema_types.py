"""Values and the types of JSON schema."""

import pytest

from purple_agent.toolbox.schema_types import fits, is_of, types_of


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (1, {"integer", "number"}),
        (1.5, {"number"}),
        (True, {"boolean"}),
        ("a", {"string"}),
        ([], {"array"}),
        ({}, {"object"}),
        (None, {"null"}),
    ],
)
def test_each_value_is_of_its_types_alone(value, kinds):
    known = ("string", "integer", "number", "boolean", "array", "object", "null")
    assert {kind for kind in known if is_of(value, kind)} == kinds


def test_a_schema_may_allow_several_types_or_not_say():
    either = {"type": ["string", "null", 3]}
    assert types_of(either) == ("string", "null")
    assert fits(None, either)
    assert not fits(1, either)
    assert all(fits(object(), schema) for schema in (True, {}, {"type": "colour"}, {"type": 7}))
