"""Start-up of the command: CPU seconds of `greenroom --help` against a bare interpreter.

Usage: python performance/startup.py [REPETITIONS]
"""

import resource
import statistics
import subprocess
import sys

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "greenroom --help": ["-m", "adk_agent.cli.main", "--help"],
    "greenroom list agents": ["-m", "adk_agent.cli.main", "list", "agents"],
    "greenroom list domains": ["-m", "adk_agent.cli.main", "list", "domains"],
    "greenroom run --dry-run": [
        *("-m", "adk_agent.cli.main", "run", "builtin:null on one mock task", "--dry-run"),
    ],
}


def cpu_s(arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    medians = {
        name: statistics.median(cpu_s(arguments) for _ in range(repetitions))
        for name, arguments in COMMANDS.items()
    }
    bare = medians["python -c pass"]
    print(f"{'command':<26}{'CPU s':>8}{'ratio':>8}")
    for name, seconds in medians.items():
        print(f"{name:<26}{seconds:>8.3f}{seconds / bare:>8.1f}")


if __name__ == "__main__":
    main()
