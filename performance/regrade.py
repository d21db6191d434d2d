"""What scoring a conversation costs: python performance/regrade.py [FOLDER] [--data-dir FOLDER]

CPU milliseconds per simulation, by domain, over all results files of a folder (else the one that
GREENROOM_PARITY_DIR names): medians, 95th percentiles and maxima of scoring, the medians of
reading, and how many rewards equal the recorded ones. Imports and the loading of the databases are
told apart. Databases come from --data-dir (else TAU2_DATA_DIR, else the installed package).

Exits with 1 where a median is above 5 ms, or a reward differs.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from evals.reward import reward_of
from tau_bridge.tau2.data import DataSource, open_source
from tau_bridge.tau2.domains import Domain, load_domain
from tau_bridge.tau2.results import RecordedResults, read_results
from tau_bridge.tau2.scoring import score_components

MAX_MEDIAN_MS = 5.0
T = TypeVar("T")


@dataclass
class Tally:
    """Measurements of one domain."""

    score_ms: list[float] = field(default_factory=list)
    read_ms: list[float] = field(default_factory=list)
    compared: int = 0
    equal: int = 0


def cpu_ms(work: Callable[[], T]) -> tuple[T, float]:
    """What `work` returns, and the CPU time that it took."""
    start = time.process_time()
    value = work()
    return value, (time.process_time() - start) * 1e3


def memory_mb() -> float:
    """The largest resident size so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def load(source: DataSource, names: set[str]) -> dict[str, Domain]:
    """The domains, telling what each cost."""
    domains = {}
    for name in sorted(names):
        before = memory_mb()
        domains[name], ms = cpu_ms(lambda name=name: load_domain(source, name))
        print(f"loaded {name}: {ms:.0f} ms CPU, {memory_mb() - before:+.0f} MB")
    return domains


def measure(recorded: RecordedResults, domain: Domain, tally: Tally) -> None:
    """Score every simulation of a file once."""
    for simulation in recorded.simulations:
        task = recorded.tasks[simulation.task_id]
        result, ms = cpu_ms(
            lambda simulation=simulation, task=task: score_components(
                domain,
                task,
                simulation.messages,
                termination=simulation.termination_reason,
                solo=simulation.solo,
                nl_verdicts=simulation.nl_verdicts,
            )
        )
        tally.score_ms.append(ms)
        if simulation.reward is not None:
            tally.compared += 1
            tally.equal += getattr(reward_of(result), "value", None) == simulation.reward


def report(tallies: dict[str, Tally]) -> bool:
    """Print a table; whether all is within bounds."""
    print(f"\n{'domain':10}{'n':>5}{'median':>9}{'p95':>9}{'max':>9}{'read':>9}   equal  (CPU ms)")
    for name, tally in sorted(tallies.items()):
        ordered = sorted(tally.score_ms)
        p95 = ordered[max(0, round(0.95 * len(ordered)) - 1)]
        print(
            f"{name:10}{len(ordered):5}{statistics.median(ordered):9.2f}{p95:9.2f}"
            f"{ordered[-1]:9.2f}{statistics.median(tally.read_ms):9.2f}"
            f"   {tally.equal}/{tally.compared}"
        )
    print(f"largest resident size: {memory_mb():.0f} MB (bound on medians: {MAX_MEDIAN_MS} ms)")
    return all(
        statistics.median(tally.score_ms) <= MAX_MEDIAN_MS and tally.equal == tally.compared
        for tally in tallies.values()
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("GREENROOM_PARITY_DIR"))
    parser.add_argument("--data-dir", default=os.environ.get("TAU2_DATA_DIR"))
    options = parser.parse_args()
    paths = sorted(Path(options.folder).glob("*.json*")) if options.folder else []
    if not paths:
        print("skipped: no results files (give a folder, or set GREENROOM_PARITY_DIR)")
        return 0
    source = open_source(Path(options.data_dir) if options.data_dir else None)
    print(f"databases: {source.name}; before loading: {memory_mb():.0f} MB")
    files, tallies = [], defaultdict(Tally)
    for path in paths:
        recorded, ms = cpu_ms(lambda path=path: read_results(path))
        tallies[recorded.domain].read_ms.append(ms / max(1, len(recorded.simulations)))
        files.append(recorded)
    domains = load(source, {recorded.domain for recorded in files})
    for recorded in files:
        measure(recorded, domains[recorded.domain], tallies[recorded.domain])
    return 0 if report(tallies) else 1


if __name__ == "__main__":
    sys.exit(main())
