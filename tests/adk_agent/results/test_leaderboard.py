"""The row that leaderboards query."""

from adk_agent.results.leaderboard import leaderboard_row
from tests.adk_agent.results.mixed_runs import report_of


def test_a_row_counts_failed_trials_as_not_passed():
    found = leaderboard_row(report_of(["++", "+i", "?-"]))
    assert (found["score"], found["max_score"], found["pass_rate"]) == (3, 5, 60.0)
    assert found["task_rewards"] == {"0": 1.0, "1": 0.5, "2": 0.0}
