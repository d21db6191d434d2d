"""Formats by name: those of every run, and those that benchmarks bring."""

import pytest

from adk_agent.core.errors import RequestError
from adk_agent.core.redaction import ModelRedactor
from adk_agent.present.exports.formats import (
    exporter_of,
    exporters,
    submitters,
    why_command_only,
)
from adk_agent.present.exports.played import open_run
from tau_bridge.benchmark import (
    BenchmarkExport,
    ExportedFile,
    NoOptions,
    Submission,
    SubmissionFile,
)
from tau_bridge.benchmarks import Benchmarks
from tau_bridge.errors import DataError

from .conftest import Questions, trial


class Strict(NoOptions):
    strict: bool = False


class Told(Questions):
    """Tells in a file of its own what an exporter sees of a run."""

    options_type = Strict

    def exporters(self):
        def told(run):
            files = [
                ExportedFile(
                    label=participant.address,
                    chunks=[
                        f"{run.run_id} {domain} strict={self.options.strict} "
                        f"{[row.reward for row in run.rows((participant, domain))]} ",
                        *(said["content"] for each in run.records() for said in each.messages),
                    ],
                )
                for participant, domain in run.parts()
            ]
            return BenchmarkExport(stem="told", suffix=".txt", files=files, notes=("all of it",))

        return {"told": told}


def test_a_benchmarks_own_format_is_made_with_the_options_of_the_run(stored, benchmarks):
    said = {"role": "user", "content": "Hello."}
    folder = stored(trial(messages=(said,)), options={"strict": True, "other": 1})
    run = open_run(folder, "run-1", redactor=ModelRedactor())
    export = exporter_of("told", Benchmarks([*benchmarks.all, Told()]))(run)
    [output] = export.outputs
    assert (output.name, export.notes) == ("told.txt", ("all of it",))
    assert "".join(output.chunks) == "run-1 mock strict=True [1.0] Hello."


def test_files_of_several_agents_are_told_apart_by_their_labels(stored):
    folder = stored(trial(), trial(participant="builtin:oracle"))
    run = open_run(folder, "run-1", redactor=ModelRedactor())
    export = exporter_of("told", Benchmarks([Told()]))(run)
    assert [each.name for each in export.outputs] == [
        "told-builtin-null.txt",
        "told-builtin-oracle.txt",
    ]


def test_an_unknown_format_is_refused_with_all_that_there_are(export, stored):
    code, out, err = export(stored(trial()), "xlsx")
    assert (code, out) == (2, "")
    assert "no format 'xlsx', only tau2, inspect, junit, otlp, agentbeats, csv" in err


def test_the_formats_of_every_run_need_no_benchmark():
    assert list(exporters(Benchmarks([]))) == ["inspect", "junit", "otlp", "agentbeats", "csv"]
    with pytest.raises(RequestError, match="no format 'tau2'"):
        exporter_of("tau2", Benchmarks([]))


@pytest.mark.parametrize("taken", ["csv", "told"])
def test_a_format_of_a_name_that_is_taken_is_refused_with_its_benchmark(taken):
    class Second(Questions):
        name = "second"

        def exporters(self):
            return {taken: lambda run: None}

    with pytest.raises(DataError, match=f"benchmark 'second' brings a format '{taken}'"):
        exporters(Benchmarks([Told(), Second()]))


def test_a_submission_is_made_by_the_command_alone(benchmarks):
    assert why_command_only("csv", benchmarks) is None
    assert "greenroom export RUN --to tau2-submission --details FILE" in why_command_only(
        "tau2-submission", benchmarks
    )


def test_a_submission_of_a_name_that_is_taken_is_refused_with_its_benchmark():
    class Second(Questions):
        name = "second"

        def submissions(self):
            return {"told": lambda runs, details: None}

    with pytest.raises(DataError, match="benchmark 'second' brings a format 'told'"):
        submitters(Benchmarks([Told(), Second()]))


def test_a_benchmark_of_another_package_may_bring_submissions(stored, benchmarks):
    class Handed(Questions):
        name = "handed"

        def submissions(self):
            def make(runs, details):
                text = f"{details['who']}: {[run.run_id for run in runs]} {runs[0].planned}"
                file = SubmissionFile(path="in/it.txt", chunks=[text])
                return Submission(folder="mine", files=[file], notes=("send it",))

            return {"handed": make}

    run = open_run(stored(trial()), "run-1", redactor=ModelRedactor())
    export = submitters(Benchmarks([Handed()]))["handed"]([run, run], {"who": "me"})
    [output] = export.outputs
    assert (output.name, export.notes) == ("mine/in/it.txt", ("send it",))
    assert "".join(output.chunks) == "me: ['run-1', 'run-1'] {'mock': ('create_task_1',)}"
