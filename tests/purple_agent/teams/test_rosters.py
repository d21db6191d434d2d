"""The reference teams as data."""

import json
from pathlib import Path

from purple_agent.teams.rosters import manifest

DATA = Path(__file__).parents[3] / "data"


def test_the_manifest_is_that_of_the_teams():
    assert json.loads((DATA / "teams.json").read_bytes()) == manifest()
