"""The formats of exports by their names: those of every run, and those of benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from adk_agent.core.errors import RequestError
from adk_agent.present.exports.agentbeats import to_agentbeats
from adk_agent.present.exports.inspect_log import to_inspect
from adk_agent.present.exports.junit import to_junit
from adk_agent.present.exports.otlp import to_otlp
from adk_agent.present.exports.output import Export, Output, names_of
from adk_agent.present.exports.played import PlayedRun
from adk_agent.present.exports.table import to_csv
from tau_bridge.benchmark import Benchmark
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import DataError

Exporter = Callable[[PlayedRun], Export]
Submitter = Callable[[Sequence[PlayedRun], Mapping[str, Any]], Export]


def exporter_of(name: str, benchmarks: Benchmarks) -> Exporter:
    """Return what makes the files of a format.

    Raises:
        RequestError: There is no such format.
        DataError: Two formats have one name.
    """
    known = exporters(benchmarks)
    if name not in known:
        names = ", ".join([*known, *submitters(benchmarks)])
        raise RequestError(f"--to: there is no format {name!r}, only {names}")
    return known[name]


def exporters(benchmarks: Benchmarks) -> dict[str, Exporter]:
    """Return what makes each format's files: those of benchmarks, then those of every run.

    Args:
        benchmarks: What can be played.

    Raises:
        DataError: Two formats have one name.
    """
    generic: dict[str, Exporter] = {
        "inspect": to_inspect,
        "junit": to_junit,
        "otlp": to_otlp,
        "agentbeats": to_agentbeats,
        "csv": partial(to_csv, benchmarks=benchmarks),
    }
    own: dict[str, Exporter] = {}
    for benchmark in benchmarks.all:
        for name in benchmark.exporters():
            _require_free(name, benchmark, {**generic, **own})
            own[name] = partial(_of_benchmark, benchmark, name)
    return {**own, **generic}


def submitters(benchmarks: Benchmarks) -> dict[str, Submitter]:
    """Return what makes submissions, by format: several runs and details that no run knows.

    Raises:
        DataError: Two formats have one name.
    """
    taken = exporters(benchmarks)
    found: dict[str, Submitter] = {}
    for benchmark in benchmarks.all:
        for name in benchmark.submissions():
            _require_free(name, benchmark, {**taken, **found})
            found[name] = partial(_submitted, benchmark, name)
    return found


def why_command_only(name: str, benchmarks: Benchmarks) -> str | None:
    """Say why only the command makes a format; None where it is no submission."""
    if name not in submitters(benchmarks):
        return None
    return (
        f"{name} needs details that no run knows, so only the command makes it: greenroom export "
        f"RUN --to {name} --details FILE"
    )


def _require_free(name: str, benchmark: Benchmark, taken: Mapping[str, object]) -> None:
    if name in taken:
        raise DataError(
            f"the benchmark {benchmark.name!r} brings a format {name!r}, of which there is "
            "one already: uninstall it"
        )


def _submitted(
    benchmark: Benchmark, name: str, runs: Sequence[PlayedRun], details: Mapping[str, Any]
) -> Export:
    made = benchmark.submissions()[name](runs, details)
    return Export(
        outputs=tuple(
            Output(name=f"{made.folder}/{file.path}", chunks=file.chunks) for file in made.files
        ),
        notes=made.notes,
    )


def _of_benchmark(benchmark: Benchmark, name: str, run: PlayedRun) -> Export:
    """Export in a benchmark's own format, with the options of the run."""
    opened = benchmark.with_options(run.report.plan.options_of(benchmark))
    export = opened.exporters()[name](run)
    names = names_of(export.stem, export.suffix, [file.label for file in export.files])
    return Export(
        outputs=tuple(
            Output(name=name, chunks=file.chunks)
            for name, file in zip(names, export.files, strict=True)
        ),
        notes=export.notes,
    )
