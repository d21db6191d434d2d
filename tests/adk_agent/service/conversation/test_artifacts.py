"""The artifact of an evaluation: its row, its report, and when it counts as failed."""

from __future__ import annotations

import pytest

from adk_agent.play.evaluation import evaluate
from adk_agent.service.conversation.artifacts import report_data

pytestmark = pytest.mark.usefixtures("quick_start")


async def test_without_references_floor_and_ceiling_are_those_that_were_measured(
    make_deps, make_plan
) -> None:
    row = report_data(await evaluate(make_plan("builtin:echo"), make_deps(), request=""))
    assert (row["floor"], row["ceiling"]) == (0.0, 100.0)
