"""What it costs to play trials on Ray: python performance/executors.py [ROUNDS]

Plays 200 trials of one turn with an agent that answers after 0.5 s, 50 at once, in turns here and
on a Ray cluster of this machine that is running already; 2.0 s would be ideal. Prints the median
time from the first trial to the last one, and their ratio (at most 1.15); apart from it what
starting the workers takes.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import numpy
from _trials import agent, plan_of, played, write_tasks

from adk_agent.play.executors.cluster import connected

DELAY_S = 0.5
TRIALS = 200
AT_ONCE = 50
MAX_RATIO = 1.15


async def compare(url, folder, rounds):
    plan = plan_of(url, trials=TRIALS, at_once=AT_ONCE)
    times = {"local": [], "ray": []}
    starting = []
    began_s = time.perf_counter()
    async with connected(None):
        print(f"starting Ray: {time.perf_counter() - began_s:.1f} s")
        for _ in range(rounds):
            for executor, found in times.items():
                asked_s = time.perf_counter()
                watch, _ = await played(plan, folder, executor)
                found.append(watch.playing_s)
                if executor == "ray":
                    starting.append(watch.began_s - asked_s)
    return times, numpy.median(starting)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as name, agent(DELAY_S) as url:
        times, starting_s = asyncio.run(compare(url, write_tasks(Path(name)), rounds))
    local_s, ray_s = (numpy.median(found) for found in times.values())
    for executor, found in times.items():
        print(f"{executor:>6}: {numpy.median(found):.2f} s ({min(found):.2f} to {max(found):.2f})")
    print(f" ratio: {ray_s / local_s:.2f} (at most {MAX_RATIO})")
    print(f"starting the workers: {starting_s:.1f} s")


if __name__ == "__main__":
    main()
