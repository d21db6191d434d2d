"""docs/business.md against the scenarios and the tools' server."""

import re
from pathlib import Path
from typing import get_args

from tau_bridge.business.scenarios import (
    Expected,
    ProcessType,
    Scenario,
    scenarios,
)
from tau_bridge.business.scoring import BASIS, EFFICIENCY
from tau_bridge.business.tools import Effect
from tau_bridge.tool_server import ToolServerLimits

TEXT = (Path(__file__).parents[2] / "docs/business.md").read_text()


def first_column(heading):
    """The names in the first column of the table with this first header."""
    (table,) = re.findall(rf"^\| {heading} \|.*\n\|.*\n((?:^\|.*\n)+)", TEXT, re.MULTILINE)
    return {
        name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }


def test_the_numbers_of_scenarios_and_policies_are_right():
    rules = sum(each.has_rules for each in scenarios().values())
    plain = " ".join(TEXT.split())
    assert f"holds {len(scenarios())} scenarios" in plain
    assert f"policies of {rules} scenarios are rules" in plain


def test_every_kind_of_process_is_named():
    assert all(f"`{process}`" in TEXT for process in get_args(ProcessType))


def test_every_component_field_and_effect_is_explained():
    assert first_column("component") == {*BASIS, EFFICIENCY}
    assert first_column("field") == set(Scenario.model_fields)
    kinds = [get_args(one.model_fields["kind"].annotation) for one in get_args(get_args(Effect)[0])]
    assert first_column("effect") == {kind for (kind,) in kinds}
    (row,) = re.findall(r"^\| `expected` \|.*", TEXT, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", row)) - {"expected"} == set(Expected.model_fields)


def test_the_limits_of_the_server_are_right():
    limits = ToolServerLimits()
    plain = " ".join(TEXT.split())
    assert f"a body of more than {limits.max_request_bytes // 1024} KiB" in plain
    told = f"at most {limits.max_calls} calls, of at most {limits.max_depth} levels of JSON"
    assert told in plain
