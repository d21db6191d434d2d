"""What the site of all runs costs: python performance/site.py [RUNS] [--repeat N]

A real run is played and copied until there are RUNS of them (500). Told are seconds for the list of
all runs: read for the first time, when nothing changed, and with one more run; and the CPU of
evaluations whose conversations are kept for live readers, against the same without (in turn; medians).

Exits with 1 where the first list takes 1 s or more, or live conversations cost more than 10 %.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import greenroom
from adk_agent.core.redaction import ModelRedactor
from adk_agent.runs.live import LiveConversations
from adk_agent.site.overview import Overview

MAX_LIST_S, MAX_LIVE_RATIO = 1.0, 1.1


def play(folder: Path, tasks: int = 50) -> None:
    """Evaluate the oracle on airline tasks."""
    greenroom.evaluate("oracle", "airline", tasks=tasks, offline=True, results_dir=folder)


def copied(folder: Path, runs: int) -> Path:
    """A real run, and as many copies as there shall be runs."""
    play(folder, tasks=10)
    [first] = folder.iterdir()
    for number in range(1, runs):
        copy(first, number)
    return first


def copy(run: Path, number: int) -> None:
    """One more run: the same, under an id of its own."""
    other = run.with_name(f"20260101-000000-{number:06x}")
    shutil.copytree(run, other)
    for path in other.glob("*.json"):
        path.write_text(path.read_text().replace(run.name, other.name))


def seconds(call: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that a call takes."""
    started = clock()
    call()
    return clock() - started


def list_seconds(folder: Path, first: Path, runs: int) -> tuple[float, float, float]:
    """Seconds of the first list, of one without a change, and of one with another run."""
    overview = Overview(folder, ModelRedactor(()))
    new = seconds(overview.lines)
    same = seconds(overview.lines)
    copy(first, runs)
    more = seconds(overview.lines)
    lines = overview.lines()
    assert len(lines) == runs + 1
    assert all(line.scores for line in lines), "a run of the list has no score"
    return new, same, more


def played_silently(folder: Path) -> None:
    """The same evaluation, whose conversations nobody can read while they go on."""
    with patch.object(LiveConversations, "write", lambda *_: None):
        play(folder)


def live_ratio(folder: Path, repeat: int) -> float:
    """CPU of evaluations with live conversations by that of the same without; medians."""
    play(folder)  # what is read and compiled at first belongs to neither
    pair = (play, played_silently)
    taken: dict[Callable[[Path], None], list[float]] = {each: [] for each in pair}
    for number in range(repeat):
        for each in pair if number % 2 else reversed(pair):
            taken[each].append(seconds(lambda each=each: each(folder), time.process_time))
    return statistics.median(taken[play]) / statistics.median(taken[played_silently])


def main() -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="?", type=int, default=500)
    parser.add_argument("--repeat", type=int, default=7)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder) / "runs"
        first = copied(runs, chosen.runs)
        new, same, more = list_seconds(runs, first, chosen.runs)
        print(
            f"list of {chosen.runs} runs: {new:.2f} s; unchanged {same:.3f} s; one more {more:.3f} s"
        )
        ratio = live_ratio(Path(folder) / "live", chosen.repeat)
        print(f"CPU with live conversations / without: {ratio:.3f} (medians of {chosen.repeat})")
    return int(new >= MAX_LIST_S or ratio > MAX_LIVE_RATIO)


if __name__ == "__main__":
    sys.exit(main())
