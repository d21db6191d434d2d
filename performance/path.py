"""The path of one request through the code, and what it costs.

Runs `greenroom run "Evaluate builtin:null on one mock task" --offline` in a process of its own,
with every call of every thread recorded there and in the processes that it starts, and prints for
each process how many modules and functions of ours ran, package by package, and how often the
steps that a request should take once were taken. Then, without the recorder: seconds of CPU, child
processes included.

Usage: python performance/path.py [--repeat N] [--list PACKAGE] [--expect-once]

`--list` prints the modules of a package that ran, `--expect-once` ends with exit code 1 where a
step was taken more often than once, or a report was read back by the process that wrote it.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
REQUEST = "Evaluate builtin:null on one mock task"
PACKAGES = ("adk_agent", "tau_bridge", "evals", "purple_agent")
ONCE = {
    "read_sentence": "adk_agent/requests/language/sentence.py",
    "resolve": "adk_agent/requests/planning.py",
    "open_benchmarks": "tau_bridge/benchmarks.py",
    "render_markdown": "adk_agent/results/markdown.py",
}
NEVER = {"load_report": "adk_agent/runs/store.py"}

# Runs at the start of every process, before anything of ours is imported.
RECORDER = """
import atexit, json, os, sys, threading

_root = os.environ["GREENROOM_PATH_ROOT"] + os.sep
_calls = {}


def _record(frame, event, _argument):
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(_root):
        return
    # A module's or a class's body runs when it is imported, a comprehension inside a function.
    if not code.co_flags & 1 or (code.co_name[0] == "<" and code.co_name != "<lambda>"):
        return
    key = code.co_filename[len(_root):], code.co_qualname, code.co_firstlineno
    _calls[key] = _calls.get(key, 0) + 1


def _write():
    sys.setprofile(None)
    threading.setprofile(None)
    path = os.path.join(os.environ["GREENROOM_PATH_OUT"], f"{os.getpid()}.json")
    with open(path, "w") as file:
        json.dump({"command": sys.argv, "calls": [[*key, n] for key, n in _calls.items()]}, file)


atexit.register(_write)
threading.setprofile(_record)
sys.setprofile(_record)
"""


def run(folder, environment):
    command = [sys.executable, "-m", "adk_agent.cli.main", "run", REQUEST, "--offline", "--quiet"]
    subprocess.run(
        [*command, "--results-dir", str(folder / "results")],
        check=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
    )


def recorded():
    """What ran, process by process, the command's own first."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sitecustomize.py").write_text(RECORDER)
        out = folder / "out"
        out.mkdir()
        paths = {"PYTHONPATH": name, "GREENROOM_PATH_ROOT": str(ROOT)}
        run(folder, {**paths, "GREENROOM_PATH_OUT": str(out)})
        processes = [json.loads(path.read_text()) for path in out.glob("*.json")]
    return sorted(processes, key=lambda each: "run" not in each["command"])


def cpu_s():
    with tempfile.TemporaryDirectory() as name:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(Path(name), {})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_package(process, package):
    """The calls of one package's functions, each `[file, name, line, times]`."""
    return [call for call in process["calls"] if call[0].startswith(f"{package}/")]


def times(process):
    """How often each step was taken, by the name of its function."""
    steps = {(file, name): name for name, file in {**ONCE, **NEVER}.items()}
    counts = Counter()
    for file, name, _, count in process["calls"]:
        if (file, name) in steps:
            counts[name] += count
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--list", metavar="PACKAGE")
    parser.add_argument("--expect-once", action="store_true")
    parsed = parser.parse_args()
    processes = recorded()
    print(f"{'process':<12}{'package':<14}{'modules':>8}{'functions':>11}")
    for process in processes:
        name = "greenroom" if process is processes[0] else "child"
        for package in PACKAGES:
            calls = of_package(process, package)
            if calls:
                print(f"{name:<12}{package:<14}{len({c[0] for c in calls}):>8}{len(calls):>11}")
    if parsed.list:
        ran = Counter(call[0] for call in of_package(processes[0], parsed.list))
        print("\n".join(f"  {count:>4} {file}" for file, count in sorted(ran.items())))
    counts = times(processes[0])
    print(*(f"{name}: {counts[name]}" for name in (*ONCE, *NEVER)), sep=", ")
    if parsed.repeat:
        cpu = [cpu_s() for _ in range(parsed.repeat)]
        print(
            f"CPU with child processes: median {statistics.median(cpu):.2f} s "
            f"({min(cpu):.2f} to {max(cpu):.2f}, {parsed.repeat} runs)"
        )
    wrong = [name for name in ONCE if counts[name] != 1]
    wrong += [name for name in NEVER if counts[name]]
    sys.exit(1 if wrong and parsed.expect_once else 0)


if __name__ == "__main__":
    main()
