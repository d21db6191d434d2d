"""How many trials a machine plays, and how runs grow: python performance/throughput.py [--quick]

1. Trials a minute with 1, 10, 100 and 500 at once, against an agent that answers after 1 s; CPU time
   of the assessor for each conversation, and memory for each of those at once.
2. Runs of 10 to 10,000 trials against an agent that answers at once, 50 of them at once: CPU time
   and memory for each trial, and what the report takes. Nothing in it should grow faster than the
   number of trials.

Every row is a process of its own, and has played one trial before it is measured.
"""

import asyncio
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _trials import agent, plan_of, played, write_tasks

LEVELS = {1: 10, 10: 100, 100: 1_000, 500: 3_000}
"""Trials, by how many of them are played at once."""
SIZES = (10, 100, 1_000, 10_000)
AT_ONCE = 50


def resident_kb():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


async def measure(url, folder, trials, at_once):
    await played(plan_of(url, trials=1, at_once=1), folder)
    before_kb, began_s = resident_kb(), time.process_time()
    watch, _ = await played(plan_of(url, trials=trials, at_once=at_once), folder)
    cpu_ms = (time.process_time() - began_s) * 1000 / trials
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    newest = max((folder / "results").iterdir())
    report_mb = (newest / "report.json").stat().st_size / 2**20
    print(
        f"{at_once:>8}{trials:>8}{watch.playing_s:>9.1f}{trials / watch.playing_s * 60:>10.0f}"
        f"{cpu_ms:>9.1f}{(peak_kb - before_kb) / at_once:>10.0f}{(peak_kb - before_kb) / trials:>10.0f}"
        f"{peak_kb / 1024:>9.0f}{watch.reporting_s:>10.2f}{report_mb:>11.1f}",
        flush=True,
    )


def row(url, trials, at_once):
    with tempfile.TemporaryDirectory() as name:
        write_tasks(Path(name))
        words = [url, name, str(trials), str(at_once)]
        subprocess.run([sys.executable, __file__, *words], check=False)


def head(title):
    print(f"\n{title}")
    print(
        f"{'at once':>8}{'trials':>8}{'play s':>9}{'a minute':>10}{'CPU ms':>9}{'KB/once':>10}"
        f"{'KB/trial':>10}{'peak MB':>9}{'report s':>10}{'report MB':>11}",
        flush=True,
    )


def main():
    quick = sys.argv[1:] == ["--quick"]
    head("against an agent that answers after 1 s")
    with agent(1.0) as url:
        for at_once, trials in LEVELS.items():
            row(url, trials // 10 if quick else trials, at_once)
    head("against an agent that answers at once")
    with agent(0.0) as url:
        for trials in SIZES[:3] if quick else SIZES:
            row(url, trials, AT_ONCE)


if __name__ == "__main__":
    if len(sys.argv) == 5:
        given_url, given_folder, *numbers = sys.argv[1:]
        asyncio.run(measure(given_url, Path(given_folder), *map(int, numbers)))
    else:
        main()
