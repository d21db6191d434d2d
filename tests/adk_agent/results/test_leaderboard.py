"""The row that leaderboards query."""

from adk_agent.results.leaderboard import leaderboard_row
from adk_agent.results.users import user_rows
from evals.user_check import UserCheck, UserFault
from tests.adk_agent.results.mixed_runs import report_of


def test_a_row_counts_failed_trials_as_not_passed():
    found = leaderboard_row(report_of(["++", "+i", "?-"]))
    assert (found["score"], found["max_score"], found["pass_rate"]) == (3, 5, 60.0)
    assert found["task_rewards"] == {"0": 1.0, "1": 0.5, "2": 0.0}


def test_a_row_tells_the_faults_of_simulated_users():
    report = report_of(["++", "+-"])
    assert leaderboard_row(report)["simulated_users"] == []
    fault = UserFault(
        kind="condition", certainty="proven", reason="it broke an order", quote="Now!", message=3
    )
    checks = [UserCheck(faults=(fault,)), UserCheck(), UserCheck(), UserCheck()]
    trials = tuple(
        trial.model_copy(update={"user": "llm:m", "user_check": check})
        for trial, check in zip(report.trials, checks, strict=True)
    )
    users = user_rows(report.plan, trials, {})
    (row,) = leaderboard_row(report.model_copy(update={"users": users}))["simulated_users"]
    assert (row["domain"], row["checked"], row["kinds"]) == ("mock", 4, {"condition": 1})
    assert (row["score"]["pass_1"], row["without_faults"]["pass_1"]) == (0.75, 0.75)
