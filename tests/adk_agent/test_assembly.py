"""What the programs have in common: ids of runs."""

import re

from adk_agent.assembly import new_run_id
from tests.fakes.runtime import ManualClock


def test_ids_of_runs_sort_by_time_within_a_second_too():
    clock, ids = ManualClock(), []
    for _ in range(60):
        ids.append(new_run_id(clock))
        clock.advance(0.031)
    assert ids == sorted(ids)
    assert all(re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{6}", each) for each in ids)
