"""Seconds and megabytes of an installation: python performance/install.py [NAME ...] [--with uv]

Builds the wheel of this checkout and installs it in empty folders, each time into a new virtual
environment, once to fill the caches and then three times for the median. `main job` is what
evaluates the bundled agents on five airline tasks; it does so once after each installation. Exits
with 1 where that takes more than 60 s or 350 MB. Needs a package index, or its files in the cache.

Other programs disturb the seconds, and those of CPU less. Megabytes are the room on disk of the whole
virtual environment, as `du -sm` tells it: after installing without bytecode, and after the first
run, which writes what it needs.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tau_bridge.tau2.data import TESTED_VERSION

REPOSITORY = Path(__file__).parents[1]
TASKS = ["--no-deps", f"inspect-evals=={TESTED_VERSION}"]
MAIN = "main job"
VARIANTS = {
    "plain": [["{wheel}"]],
    MAIN: [["{wheel}"], TASKS],
    "main job, llm": [["{wheel}[llm]"], TASKS],
    "tau2": [["{wheel}[tau2]"]],
    "tau2, llm": [["{wheel}[tau2,llm]"]],
    "agentdojo": [["{wheel}[agentdojo]"]],
    "grpc": [["{wheel}[grpc]"]],
    "ray": [["{wheel}[ray]"]],
    "git": [["git+file://{repository}"], TASKS],
}
"""The arguments of each `pip install`, one after the other."""
JOB = "Evaluate the bundled oracle, null and echo agents on five airline tasks"
MOST_S, MOST_MB = 60, 350


def uv_program():
    return shutil.which("uv") or str(REPOSITORY / ".tools/bin/uv")


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command, folder):
    """Seconds of a command."""
    # The variables of a virtual environment that is active would lead pip and uv there.
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("VIRTUAL_ENV", "PIP_"))}
    environment |= {"UV_PYTHON_DOWNLOADS": "never", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    start = time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return time.perf_counter() - start


def megabytes(folder):
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*")) / 2**20


def install(steps, tool, python, folder):
    """Install into a new environment in an empty folder.

    Returns seconds, seconds of CPU, and megabytes.
    """
    if tool == "uv":
        begin = [uv_program(), "venv", "-q", "--python", python, "v"]
        installer = [uv_program(), "pip", "install", "-q", "--python", "v/bin/python"]
    else:
        begin = [python, "-m", "venv", "v"]
        installer = ["v/bin/python", "-m", "pip", "install", "-q", "--no-compile"]
    used, seconds = cpu_s(), timed(begin, folder)
    seconds += sum(timed([*installer, *step], folder) for step in steps)
    return seconds, cpu_s() - used, megabytes(folder / "v")


def measure(name, tool, python, wheel, repetitions):
    values = {"wheel": wheel, "repository": REPOSITORY}
    steps = [[argument.format(**values) for argument in step] for step in VARIANTS[name]]
    taken = []
    for _ in range(1 + repetitions):
        with tempfile.TemporaryDirectory() as folder:
            installed = install(steps, tool, python, Path(folder))
            if name != "plain":
                timed(["v/bin/greenroom", "run", JOB, "--offline"], folder)
            taken.append((*installed, megabytes(Path(folder) / "v")))
    return [statistics.median(figures) for figures in zip(*taken[1:], strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(VARIANTS))
    parser.add_argument("--with", dest="tool", choices=["pip", "uv"], default="pip")
    parser.add_argument("--python", default=getattr(sys, "_base_executable", sys.executable))
    parser.add_argument("--repetitions", type=int, default=3)
    asked = parser.parse_args()
    if unknown := set(asked.names) - VARIANTS.keys():
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(VARIANTS)}")
    missed = False
    with tempfile.TemporaryDirectory() as built:
        timed([uv_program(), "build", "-q", "--wheel", "--out-dir", built, REPOSITORY], built)
        [wheel] = Path(built).glob("*.whl")
        print(f"{asked.tool}, {asked.python}")
        print(f"{'installation':<16}{'s':>8}{'CPU s':>8}{'MB':>8}{'MB after a run':>18}")
        for name in asked.names or ["plain", MAIN]:
            seconds, cpu, at_first, later = measure(
                name, asked.tool, asked.python, wheel, asked.repetitions
            )
            print(f"{name:<16}{seconds:>8.1f}{cpu:>8.1f}{at_first:>8.0f}{later:>18.0f}", flush=True)
            missed |= name == MAIN and (seconds > MOST_S or later > MOST_MB)
    sys.exit(missed)


if __name__ == "__main__":
    main()
