"""The names that sentences may use."""

from __future__ import annotations

from adk_agent.requests.reading.words import BUNDLED_TEAMS
from tau_bridge.teams import teams


def test_the_teams_that_a_sentence_may_name_are_the_bundled_ones() -> None:
    assert tuple(teams()) == BUNDLED_TEAMS
