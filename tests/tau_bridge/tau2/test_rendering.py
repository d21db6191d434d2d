"""What a tool returns, as text."""

from datetime import date, datetime

import pytest

from tau_bridge.errors import HarnessError
from tau_bridge.tau2.rendering import render


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("as it is", "as it is"),
        (None, "null"),
        (1.5, '"1.5"'),
        (True, '"True"'),
        ([1, ("a", None)], '["1", ["a", null]]'),
        ({"when": date(2025, 2, 3), "n": {"m": 2}}, '{"when": "2025-02-03", "n": {"m": "2"}}'),
        (datetime(2025, 2, 3, 4), '"2025-02-03T04:00:00"'),  # noqa: DTZ001 - telecom's are naive
    ],
)
def test_what_a_tool_returns_becomes_text_by_the_official_rules(value, text):
    assert render(value) == text


def test_what_has_no_rendering_is_a_fault_of_the_harness():
    with pytest.raises(HarnessError, match="object"):
        render([object()])
