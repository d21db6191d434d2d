"""A program that plays runs in child processes, for tests that kill them.

Everything is imported and read once; each line on stdin, a run's id, forks a child that begins the
run or goes on with it. The child's pid is printed, and "ended" once it is gone.

Arguments: results folder, file with the plan.
"""

import asyncio
import os
import sys
from pathlib import Path

import networkx  # noqa: F401 - before the fork, so that no child needs the time

from adk_agent.assembly import Assembly
from adk_agent.evaluation import evaluate, resume
from adk_agent.plan import EvaluationPlan
from adk_agent.settings import Settings
from tau_bridge.tau2.domains import load_domain


def main():
    folder, plan_file = sys.argv[1:]
    plan = EvaluationPlan.model_validate_json(Path(plan_file).read_text())
    assembly = Assembly(settings=Settings.load(results_dir=Path(folder), offline=True))
    source = assembly.open_source()
    for planned in plan.tasks:
        load_domain(source, planned.domain)
    deps = assembly.evaluation_deps(source)
    for line in sys.stdin:
        run_id = line.strip()
        pid = os.fork()
        if pid == 0:
            if (Path(folder) / run_id / "manifest.json").exists():
                asyncio.run(resume(run_id, deps))
            else:
                asyncio.run(evaluate(plan, deps, request="killed", run_id=run_id))
            os._exit(0)
        tell(pid)
        os.waitpid(pid, 0)
        tell("ended")


def tell(word):
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
