"""Check with 20 seeds that injected faults rank the bundled agents as they must.

    .venv/bin/python performance/chaos.py --seeds 20

Plays three writing tasks of mock eight times with each agent, plain and under `network`, `duplicates`
and `tools`. Prints for each seed the scores under faults and the writes repeated; the exit code is 1
if a seed ranks an agent wrongly. With three trials of each task some do: the few faults that are drawn may
hit the last message alone, after which nothing is left to lose.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
from pathlib import Path

from adk_agent.cli.main import main as greenroom
from adk_agent.results.report import EvaluationReport
from adk_agent.results.robustness import RobustnessRow
from adk_agent.runs.store import load_report

AGENTS = ("idempotent", "retrying", "writes-twice", "forgetful")
FAULTS = "lost_reply=0.3,busy=0.2,duplicate=0.5,tool_error=0.3,tool_fields=0.3"
TASKS = ("create_task_1", "update_task_1", "update_task_with_initialization_data")
FAMILIES = ("network", "duplicates", "tools")


def played(seed: int, trials: int, results: Path) -> EvaluationReport:
    """Play the agents with one seed."""
    words = ["run", "--domain", "mock", "--task-ids", ",".join(TASKS), "--num-trials", str(trials)]
    words += [word for name in AGENTS for word in ("--agent", name)]
    words += ["--seed", str(seed), "--chaos", FAULTS, "--offline", "--quiet"]
    folder = results / str(seed)
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
        code = greenroom([*words, "--results-dir", str(folder)])
    if code:
        sys.exit(f"seed {seed}: exit code {code}\n{told.getvalue()}")
    [run] = [each.name for each in folder.iterdir() if (each / "report.json").exists()]
    return load_report(folder, run)


def is_right(rows: dict[tuple[str, str], RobustnessRow]) -> bool:
    """Check the order of the agents under each family."""
    score = {key: row.comparison.second for key, row in rows.items() if row.comparison}
    writes = {key: row.repeated_writes for key, row in rows.items()}
    good = all(
        score[agent, family] == 1.0 and writes[agent, family] == 0
        for agent in ("idempotent", "retrying")
        for family in ("network", "duplicates")
    )
    return (
        good
        and score["retrying", "tools"] == 1.0 > score["idempotent", "tools"]
        and score["writes-twice", "duplicates"] < 1.0
        and all((writes["writes-twice", family] or 0) > 0 for family in ("network", "duplicates"))
        and all(
            score["forgetful", family] < 1.0 and writes["forgetful", family] == 0
            for family in ("network", "duplicates")
        )
    )


def main() -> int:
    """Play all seeds and count those that rank the agents rightly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--trials", type=int, default=8)
    parsed = parser.parse_args()
    seeds = parsed.seeds
    right = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, seeds + 1):
            report = played(seed, parsed.trials, Path(folder))
            rows = {
                (row.participant.partition(":")[2], row.family): row for row in report.robustness
            }
            found = is_right(rows)
            right += found
            shown = "; ".join(
                f"{agent} "
                + ", ".join(
                    f"{rows[agent, family].comparison.second:.2f}/{rows[agent, family].repeated_writes}"
                    if rows[agent, family].comparison
                    else "-"
                    for family in FAMILIES
                )
                for agent in AGENTS
            )
            sys.stdout.write(f"seed {seed}: {'right' if found else 'WRONG'}: {shown}\n")
            sys.stdout.flush()
    sys.stdout.write(f"right in {right} of {seeds} seeds\n")
    return 0 if right == seeds else 1


if __name__ == "__main__":
    sys.exit(main())
