"""How often a diagnosis is right: python performance/diagnosis.py [FOLDER] [--data-dir FOLDER]

Diagnoses recorded gold conversations that were perturbed in a known way (`info.kind` of a
simulation: a call dropped, an argument changed, a call added, an unknown tool called, the order
changed, the end cut off), over all results files of a folder (else the one that
GREENROOM_PARITY_DIR names). What was done to a conversation is found by comparing it with its gold
actions as plain JSON; none of the diagnosis's own code takes part in that.

Beside these it diagnoses recorded conversations of language models that a reader has labelled.

Prints precision, recall and the share that is not `undetermined`, by class, every conversation in
which the two differ (with --verbose), and what a diagnosis costs. Exits with 1 where precision or
coverage is below 90 %, or the median above 5 ms.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adk_agent.play.diagnosis import diagnose_trial
from evals.diagnosis import Diagnosis
from evals.reward import reward_of
from tau_bridge.tau2.data import DataSource, open_source
from tau_bridge.tau2.diagnosis import diagnose_played
from tau_bridge.tau2.domains import Domain, load_domain
from tau_bridge.tau2.results import RecordedSimulation, read_results
from tau_bridge.tau2.scoring import score_components
from tau_bridge.tau2.tasks import Task

LEAST = 0.9
MAX_MEDIAN_MS = 5.0
LABELLED = {
    "communication": """
        028f3fcb 39fb359e f04708e3
    """,
    "gave_up": """
        003ec557 45e210ab 5f214570 6f4dc615 71f463c8 916c3402 bc98047a d584f9a1 e5177881
    """,
    "missing_write": """
        119def6a 17e19956 251f444a 7e22b933 9ca28a22 f909dda0
    """,
    "policy": """
        3c53805e
    """,
    "user_simulator": """
        00dfb6bc c754a28a fd37aa2f
    """,
    "wrong_write": """
        01f9df82 0be07113 1502254b 18433d22 2212a66e 390bca66 46e914fc 591a2619 a52b4626
        c9757364 d171342d
    """,
}
"""Failed conversations of language models, by the first eight characters of their ids: the class that
a reader of the whole conversation and of its task gave them, before any was diagnosed."""


@dataclass
class Measured:
    """Pairs of the known cause and the diagnosed class, and what each diagnosis cost."""

    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    departures: Counter[bool] = field(default_factory=Counter)
    """Whether the world was found to leave the gold path at the one call that was added."""
    wrong: list[str] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(self.pairs.values())

    @property
    def right(self) -> int:
        return sum(n for (known, found), n in self.pairs.items() if known == found)

    @property
    def precision(self) -> float:
        """Right ones among those that are not undetermined."""
        determined = sum(n for (_, found), n in self.pairs.items() if found != "undetermined")
        return self.right / determined

    @property
    def coverage(self) -> float:
        """The share that is not undetermined."""
        open_ones = sum(n for (_, found), n in self.pairs.items() if found == "undetermined")
        return 1 - open_ones / self.total

    def rows(self) -> Iterator[tuple[str, ...]]:
        """By class: how many are known, were found, and are right; precision and recall."""
        for name in sorted({name for pair in self.pairs for name in pair}):
            known = sum(n for (k, _), n in self.pairs.items() if k == name)
            found = sum(n for (_, f), n in self.pairs.items() if f == name)
            right = self.pairs[name, name]
            counts = (str(known), str(found), str(right))
            yield (name, *counts, _share(right, found), _share(right, known))


def known_cause(simulation: Mapping[str, Any], task: Mapping[str, Any], domain: Domain) -> str:
    """What a perturbed conversation that did not pass failed of, by what was done to it."""
    kind = simulation["info"]["kind"]
    if kind == "errors":
        return "loop"
    criteria = task["evaluation_criteria"]
    changes = domain.tool_names.changes_state
    needed = [a for a in criteria.get("actions") or [] if changes(a["name"]) or _counts(criteria)]
    done = [call for call in _calls(simulation, task) if changes(call["name"]) or _counts(criteria)]
    lacking = Counter(map(_text, needed)) - Counter(map(_text, done))
    added = Counter(map(_text, done)) - Counter(map(_text, needed))
    cut_off = simulation["termination_reason"] == "max_steps"
    if kind in ("arg", "badargs") and added:
        by_user = any(json.loads(text)[0] == "user" for text in added)
        return "user_simulator" if kind == "badargs" and by_user else "wrong_write"
    if kind in ("extra_write", "dup") and added:
        return "wrong_write" if any(changes(a["name"]) for a in needed) else "policy"
    if lacking:
        return "missing_write"
    if kind == "shuffle" and not cut_off:
        return "wrong_write"
    if _untold(simulation, criteria):
        return "communication"
    return "loop" if cut_off else "harness"


def _counts(criteria: Mapping[str, Any]) -> bool:
    """Whether calls that only read count too."""
    return "ACTION" in (criteria.get("reward_basis") or ())


def _calls(simulation: Mapping[str, Any], task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    history = len((task.get("initial_state") or {}).get("message_history") or ())
    for message in simulation["messages"][history:]:
        yield from message.get("tool_calls") or ()


def _text(call: Mapping[str, Any]) -> str:
    requestor = call.get("requestor") or "assistant"
    return json.dumps([requestor, call["name"], call["arguments"]], sort_keys=True)


def _untold(simulation: Mapping[str, Any], criteria: Mapping[str, Any]) -> bool:
    said = [
        (message.get("content") or "").lower().replace(",", "")
        for message in simulation["messages"]
        if message["role"] == "assistant"
    ]
    basis = criteria.get("reward_basis") or ("DB", "COMMUNICATE")
    wanted = (criteria.get("communicate_info") or ()) if "COMMUNICATE" in basis else ()
    return any(not any(text.lower() in each for each in said) for text in wanted)


def added_at(simulation: Mapping[str, Any], task: Mapping[str, Any], domain: Domain) -> int | None:
    """The place of the message with the one state-changing call too many; None for another."""
    if simulation["info"]["kind"] not in ("extra_write", "dup"):
        return None
    changes = domain.tool_names.changes_state
    gold = [a for a in task["evaluation_criteria"].get("actions") or [] if changes(a["name"])]
    done = [
        (_text(call), index)
        for index, message in enumerate(simulation["messages"])
        for call in message.get("tool_calls") or ()
        if changes(call["name"])
    ]
    added = Counter(text for text, _ in done) - Counter(map(_text, gold))
    if added.total() != 1:
        return None
    return max(index for text, index in done if text in added)


def measure(paths: list[Path], source: DataSource) -> tuple[Measured, Measured]:
    """Diagnose every conversation that did not pass: the perturbed ones, and those labelled."""
    perturbed, labelled = Measured(), Measured()
    labels = {start: kind for kind, ids in LABELLED.items() for start in ids.split()}
    for path in paths:
        content = path.read_bytes()
        raw = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
        recorded = read_results(path)
        domain = load_domain(source, recorded.domain)
        tasks = {task["id"]: task for task in raw["tasks"]}
        for simulation, record in zip(recorded.simulations, raw["simulations"], strict=True):
            if simulation.reward != 0.0:
                continue
            found, ms = diagnosed(simulation, recorded.tasks[simulation.task_id], domain)
            if path.name.startswith("perturbed_"):
                task = tasks[simulation.task_id]
                _note(perturbed, simulation, known_cause(record, task, domain), found, ms)
                at = added_at(record, task, domain)
                if at is not None and found.departure is not None:
                    perturbed.departures[found.departure.message == at] += 1
            elif simulation.id[:8] in labels:
                _note(labelled, simulation, labels[simulation.id[:8]], found, ms)
    return perturbed, labelled


def _note(
    measured: Measured, simulation: RecordedSimulation, known: str, found: Diagnosis, ms: float
) -> None:
    measured.ms.append(ms)
    measured.pairs[known, found.kind] += 1
    if known != found.kind:
        measured.wrong.append(f"{simulation.id}: {known}, not {found.kind} ({found.summary})")


def diagnosed(
    simulation: RecordedSimulation, task: Task, domain: Domain
) -> tuple[Diagnosis, float]:
    """A conversation's diagnosis, and the milliseconds of CPU that it took beyond scoring."""
    result = score_components(
        domain,
        task,
        simulation.messages,
        termination=simulation.termination_reason,
        solo=simulation.solo,
        nl_verdicts=simulation.nl_verdicts,
    )
    start = time.process_time()
    found = diagnose_trial(
        reward_of(result),
        result,
        lambda scored: diagnose_played(
            domain,
            task,
            scored,
            simulation.messages,
            termination=simulation.termination_reason,
            solo=simulation.solo,
        ),
        label=simulation.id,
    )
    if found is None:
        msg = f"{simulation.id} did not pass, and has no diagnosis"
        raise RuntimeError(msg)
    return found, (time.process_time() - start) * 1e3


def report(measured: Measured) -> bool:
    """Print the table; whether all is within bounds."""
    for row in (("class", "known", "found", "right", "precision", "recall"), *measured.rows()):
        print(f"{row[0]:16}" + "".join(f"{each:>11}" for each in row[1:]))
    ordered = sorted(measured.ms)
    median = ordered[len(ordered) // 2]
    print(
        f"{measured.total} conversations: precision {measured.precision:.1%}, "
        f"coverage {measured.coverage:.1%}; CPU ms: median {median:.2f}, "
        f"95th percentile {ordered[round(0.95 * len(ordered)) - 1]:.2f}, most {ordered[-1]:.2f}"
    )
    return min(measured.precision, measured.coverage) >= LEAST and median <= MAX_MEDIAN_MS


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("GREENROOM_PARITY_DIR"))
    parser.add_argument("--data-dir", default=os.environ.get("TAU2_DATA_DIR"))
    parser.add_argument("--verbose", action="store_true", help="print what was diagnosed otherwise")
    options = parser.parse_args()
    paths = sorted(Path(options.folder).glob("*.json*")) if options.folder else []
    if not paths:
        print("skipped: no results files (give a folder, or set GREENROOM_PARITY_DIR)")
        return 0
    source = open_source(Path(options.data_dir) if options.data_dir else None)
    perturbed, labelled = measure(paths, source)
    fine = []
    for title, measured in (("perturbed", perturbed), ("labelled by a reader", labelled)):
        if measured.total:
            print(f"{title}:")
            fine.append(report(measured))
            print("\n".join(measured.wrong) if options.verbose else "")
    print(
        f"departures at the added call: {perturbed.departures[True]} of "
        f"{perturbed.departures.total()}"
    )
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
