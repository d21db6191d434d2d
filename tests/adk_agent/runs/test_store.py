"""The run directory as it is read: what counts, and what is damage."""

import errno
import io
import json
import resource
import shutil
import signal
from datetime import UTC, datetime

import pytest

from adk_agent.cli.main import main
from adk_agent.core.errors import StorageError
from adk_agent.core.files import SCHEMA
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.results.summary import DataOrigin, TrialRow
from adk_agent.runs.store import (
    RunManifest,
    RunStore,
    TrialRecord,
    iter_trials,
    load_manifest,
    load_trials,
)
from adk_agent.runs.tracking import read_status, tracked_run
from evals.trace import Trace
from tests.fakes.runtime import ManualClock

RUN = "run-1"
SEEDS = (11, 12, 13)


@pytest.fixture
def manifest():
    return RunManifest(
        run_id=RUN,
        request="r",
        plan=EvaluationPlan(
            participants=(Participant(address="builtin:null"),),
            tasks=(PlannedTasks(domain="mock", task_ids=("a",)),),
            num_trials=len(SEEDS),
        ),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        versions={},
        seeds=SEEDS,
        data={"mock": DataOrigin(source="test", revision="1")},
    )


def record_of(trial, *, seed=None, task_id="a", turns=1):
    row = TrialRow(
        participant="builtin:null",
        domain="mock",
        task_id=task_id,
        trial=trial,
        seed=SEEDS[trial] if seed is None else seed,
        status="scored",
        reward=1.0,
        reward_breakdown={},
        reason=None,
        termination="user_stop",
        user="scripted",
        turns=turns,
        tool_calls=0,
        format_repairs=0,
        duration_ms=0.0,
        trace_id="t",
    )
    return TrialRecord(row=row, evaluations=(), trace=Trace(trace_id="t"), messages=({"é": "\n"},))


@pytest.fixture
def write(tmp_path, manifest):
    """Writes a run with these records, and returns its trials.jsonl."""

    def writing(*records):
        with tracked_run(tmp_path, RUN, request="r", clock=ManualClock()) as tracker:
            store = RunStore.create(tmp_path, RUN, manifest)
            for record in records:
                store.append(record)
            store.close()
            tracker.end("interrupted")
        return tmp_path / RUN / "trials.jsonl"

    return writing


def test_trials_come_in_the_order_in_which_they_ended(tmp_path, write):
    records = [record_of(trial) for trial in (2, 0, 1)]
    write(*records)
    assert list(iter_trials(tmp_path, RUN)) == load_trials(tmp_path, RUN) == records


def test_of_a_trial_that_was_repeated_the_last_counts(tmp_path, write):
    first, other, again = record_of(0, turns=1), record_of(1), record_of(0, turns=2)
    write(first, other, again)
    assert load_trials(tmp_path, RUN) == [other, again]


def test_wherever_a_file_was_cut_its_whole_lines_are_there_and_it_goes_on(tmp_path, write):
    records = [record_of(trial) for trial in range(2)]
    path = write(*records)
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(first - 2, len(whole) + 1):
        path.write_bytes(whole[:length])
        kept = (length >= first) + (length == len(whole))
        assert load_trials(tmp_path, RUN) == records[:kept]
        store = RunStore.reopen(tmp_path, RUN)
        for record in records[kept:]:
            store.append(record)
        store.close()
        assert path.read_bytes() == whole


class FullDisk(io.FileIO):
    """Has room for ten bytes, until somebody makes more."""

    room = 10

    def write(self, data):
        if not self.room:
            raise OSError(errno.ENOSPC, "no space")
        written = super().write(data[: self.room])
        self.room -= written
        return written


def test_after_a_write_that_failed_the_next_trial_follows_without_a_gap(
    tmp_path, write, monkeypatch
):
    first, second = record_of(0), record_of(1)
    path = write(first)
    monkeypatch.setattr(io, "FileIO", FullDisk)
    store = RunStore.reopen(tmp_path, RUN)
    with pytest.raises(StorageError, match="no space"):
        store.append(second)
    store._trials.room = 1_000_000
    store.append(second)
    store.close()
    assert b"\0" not in path.read_bytes()
    assert load_trials(tmp_path, RUN) == [first, second]


def test_no_file_stays_open_where_the_manifest_cannot_be_written(tmp_path, manifest, monkeypatch):
    opened = []

    class Seen(io.FileIO):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            opened.append(self)

    def refuse(path, text, **options):
        raise StorageError("no space")

    monkeypatch.setattr(io, "FileIO", Seen)
    monkeypatch.setattr("adk_agent.runs.store.write_whole", refuse)
    with pytest.raises(StorageError, match="no space"):
        RunStore.create(tmp_path, RUN, manifest)
    assert [file.closed for file in opened] == [True]


@pytest.mark.parametrize(
    "line",
    [b"{}", b'{"row": 7}', b"[]", b"\0", b"\xff", b'{"row": {"participant": "x"', b"1" * 9999],
)
def test_a_whole_line_that_is_no_trial_is_named_and_left_alone(tmp_path, write, line):
    path = write(record_of(0), record_of(1), record_of(2))
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([lines[0], line, lines[2], b""]))
    damaged = path.read_bytes()
    with pytest.raises(
        StorageError, match=r"trials\.jsonl' line 2 is not a trial: .*; delete that"
    ):
        load_trials(tmp_path, RUN)
    assert path.read_bytes() == damaged


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b'{"row": 7}', "row: Input should be an object; delete that line: greenroom resume plays"),
        (b'{"row": {"trial": 1}}', "row.participant: Field required (the first of 4 errors); del"),
        (b"[", "Invalid JSON: EOF while parsing a list at line 2 column 0; delete that line"),
    ],
)
def test_what_is_wrong_with_a_line_is_told(tmp_path, write, line, told):
    write(record_of(0)).write_bytes(line + b"\n")
    with pytest.raises(StorageError) as caught:
        load_trials(tmp_path, RUN)
    assert f"trials.jsonl' line 1 is not a trial: {told}" in str(caught.value)


def test_blank_lines_are_passed_over(tmp_path, write):
    records = [record_of(0), record_of(1)]
    path = write(*records)
    path.write_bytes(b"\n" + path.read_bytes().replace(b"\n", b"\n \r\n\n"))
    assert load_trials(tmp_path, RUN) == records


@pytest.mark.parametrize(
    "stranger", [record_of(0, task_id="b"), record_of(1, seed=99), record_of(3 - 1, seed=11)]
)
def test_a_trial_that_is_not_in_the_plan_is_named_as_damage(tmp_path, manifest, write, stranger):
    write(record_of(0), stranger)
    assert len(load_trials(tmp_path, RUN)) == 2
    with pytest.raises(StorageError, match=r"line 2 has a trial that is not in the plan"):
        list(iter_trials(tmp_path, RUN, manifest=manifest))


def test_files_of_two_runs_that_were_mixed_are_told(tmp_path, write, capsys):
    write(record_of(0), record_of(1, seed=99))
    assert main(["results", RUN, "--results-dir", str(tmp_path)]) == 3
    assert "trial 1 with seed 99; files of two runs were mixed" in capsys.readouterr().err


def test_files_of_a_version_before_schemas_and_models_are_read(tmp_path, manifest, write):
    write(record_of(0))
    for name in ("manifest.json", "status.json"):
        path = tmp_path / RUN / name
        fields = json.loads(path.read_text())
        del fields["schema_version"]
        fields.pop("models", None)
        path.write_text(json.dumps(fields))
    assert load_manifest(tmp_path, RUN) == manifest
    assert read_status(tmp_path, RUN).state == "interrupted"


@pytest.mark.parametrize("file", ["status.json", "manifest.json"])
@pytest.mark.parametrize("command", ["resume", "results", "status"])
def test_a_run_of_a_newer_version_is_refused_and_nothing_of_it_changes(
    tmp_path, write, capsys, file, command
):
    if (file, command) == ("manifest.json", "status"):
        return  # which does not read it
    write(record_of(0))
    path = tmp_path / RUN / file
    fields = {**json.loads(path.read_text()), "schema_version": SCHEMA + 2, "invented": True}
    path.write_text(json.dumps(fields))
    before = {each: each.read_bytes() for each in (tmp_path / RUN).iterdir()}
    assert main([command, RUN, "--results-dir", str(tmp_path)]) == 3
    assert f"{file}' was written by a newer greenroom (schema 3, this one reads up to 1)" in (
        capsys.readouterr().err
    )
    assert {each: each.read_bytes() for each in (tmp_path / RUN).iterdir()} == before


@pytest.mark.parametrize("schema", ['"new"', "[[[]]]", "1e999", "null", "-" + "9" * 5000])
def test_a_schema_that_is_none_is_a_damaged_file(tmp_path, write, schema):
    write(record_of(0))
    path = tmp_path / RUN / "manifest.json"
    path.write_text(f'{{"schema_version": {schema}}}')
    with pytest.raises(StorageError, match="is not a manifest of this version"):
        load_manifest(tmp_path, RUN)


def test_a_listing_names_the_run_that_cannot_be_read_and_shows_the_others(tmp_path, write, capsys):
    write(record_of(0))
    shutil.copytree(tmp_path / RUN, tmp_path / "run-2")
    (tmp_path / RUN / "status.json").write_text('{"schema_version": 3}')
    assert main(["list", "runs", "--results-dir", str(tmp_path), "--json"]) == 0
    rows = {row["run"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["run-2"]["state"] == "interrupted"
    assert rows[RUN]["state"] == "unreadable"
    assert "newer greenroom" in rows[RUN]["request"]


def test_a_full_disk_leaves_whole_lines(tmp_path, make_plan):
    manifest = RunManifest(
        run_id="run-1",
        request="",
        plan=make_plan("builtin:null"),
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        versions={},
        seeds=(),
        data={"mock": DataOrigin(source="test", revision="1")},
    )
    row = TrialRow(
        **dict.fromkeys(("participant", "domain", "task_id", "termination", "user"), "x"),
        **dict.fromkeys(("trial", "seed", "turns", "tool_calls", "format_repairs"), 0),
        status="scored",
        reward=1.0,
        reward_breakdown={},
        reason=None,
        duration_ms=0.0,
        trace_id="t",
    )
    record = TrialRecord(row=row, evaluations=(), trace=Trace(trace_id="t"), messages=())
    store = RunStore.create(tmp_path, "run-1", manifest)
    store.append(record)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = (tmp_path / "run-1" / "trials.jsonl").stat().st_size
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, limit[1]))
    try:
        with pytest.raises(StorageError, match=r"trials\.jsonl"):
            store.append(record)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)
    store.close()
    assert list(load_trials(tmp_path, "run-1")) == [record]


def test_a_torn_last_line_is_no_trial(tmp_path):
    folder = tmp_path / "run-1"
    folder.mkdir()
    (folder / "trials.jsonl").write_text('{"row": ')
    assert list(load_trials(tmp_path, "run-1")) == []
