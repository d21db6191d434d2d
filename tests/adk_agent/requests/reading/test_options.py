"""The settings that a sentence may choose."""

from __future__ import annotations

import pytest

from tests.adk_agent.requests.sentences import Read


@pytest.mark.parametrize(
    "phrase",
    ["using action evaluation", "with action-based scoring", "evaluation: action", "actions only"],
)
def test_action_scoring_may_be_said_in_several_ways(read: Read, phrase: str) -> None:
    got = read(f"Evaluate http://localhost:9010 on two airline tasks, {phrase}")
    assert (got.evaluation_type, got.selections[0].num_tasks) == ("action", 2)


@pytest.mark.parametrize("phrase", ["no action evaluation", "and take action"])
def test_action_scoring_that_is_not_asked_for_is_not_used(read: Read, phrase: str) -> None:
    got = read(f"Evaluate http://localhost:9010 on two airline tasks, {phrase}")
    assert got.evaluation_type == "all"
