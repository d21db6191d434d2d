"""Requests to run a tool, read from an agent's words."""

import pytest

from tau_bridge.tau2.tool_requests import ToolRequestReader
from tests.tau_bridge.tau2.parcels import TOOLS

REQUESTS = {
    'set_mode(mode="4g", level=1)': [("set_mode", {"mode": "4g", "level": 1})],
    "set_mode('4g', 1)": [("set_mode", {"mode": "4g", "level": 1})],
    'set_mode({"mode": "a)b", "level": 1})': [("set_mode", {"mode": "a)b", "level": 1})],
    "set_mode({'mode': 'x', 'level': None})": [("set_mode", {"mode": "x", "level": None})],
    "`set_mode(mode='x', level=true)`": [("set_mode", {"mode": "x", "level": True})],
    "First get_status_bar, then `toggle_airplane_mode`.": [
        ("get_status_bar", {}),
        ("toggle_airplane_mode", {}),
    ],
    "Call get_status_bar() and tell me what get_status_bar says": [("get_status_bar", {})],
    "my_get_status_bar get_status_bars": [],
    "get status bar": [],
}


@pytest.mark.parametrize("text", REQUESTS)
def test_requests_are_read_from(text):
    read = ToolRequestReader(TOOLS).read(text)
    assert [(request.name, request.arguments) for request in read] == REQUESTS[text]
    assert not [request.problem for request in read if request.problem]


@pytest.mark.parametrize("text", ["toggle_airplane_mode(1, 2)", "set_mode('4g', 1, 2)"])
def test_more_values_than_a_tool_has_parameters_cannot_be_read(text):
    [request] = ToolRequestReader(TOOLS).read(text)
    assert request.problem is not None


def test_a_megabyte_of_parentheses_is_no_request_that_can_be_read():
    [request] = ToolRequestReader(TOOLS).read("set_mode" + "(" * 1_000_000)
    assert request.problem is not None
