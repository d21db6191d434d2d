"""Processes that go on after a restart, and checkpoints that cannot be used."""

import json
import logging

import pytest

from purple_agent.policy.hashing import hash_policy
from purple_agent.process import checkpoint
from purple_agent.process.checkpoint import (
    Checkpoint,
    CheckpointStore,
    key_of,
    read_checkpoint,
    write_checkpoint,
)
from purple_agent.process.machine import Evidence, Process, Sign, State

WAITING = Process(kind="procurement").advance(
    Evidence(sign=Sign.UNDERSTOOD),
    Evidence(sign=Sign.ASSESSED),
    Evidence(sign=Sign.APPROVAL_NEEDED, subject="P1", tool="order", rules="R1"),
    Evidence(sign=Sign.APPROVAL_PENDING, subject="P1", approval_id="A9", by="the board"),
    Evidence(sign=Sign.WRITTEN),
)

KEPT = Checkpoint(process=WAITING)


def changed(**fields):
    return json.dumps({**json.loads(write_checkpoint(KEPT, "c1")), **fields})


def test_a_checkpoint_gives_back_the_process():
    assert read_checkpoint(write_checkpoint(KEPT, "c1"), "c1") == KEPT


def test_an_approval_told_after_a_restart_is_of_what_was_asked_for_before_it():
    asked = Process().advance(
        Evidence(sign=Sign.UNDERSTOOD),
        Evidence(sign=Sign.ASSESSED),
        Evidence(sign=Sign.APPROVAL_NEEDED, subject="P1", tool="order", rules="R1"),
    )
    found = read_checkpoint(write_checkpoint(Checkpoint(process=asked), "c1"), "c1").process
    told = found.advance(Evidence(sign=Sign.APPROVAL_GRANTED, subject="P1"))
    [approval] = told.approvals
    assert (approval.tool, approval.rules) == ("order", "R1")


def test_a_checkpoint_tells_by_what_a_policy_is_known_again_and_nothing_else_of_it():
    policy = {"rules": [{"id": "EXP-1", "action": "block"}]}
    kept = Checkpoint(process=WAITING, policy_hash=hash_policy(policy))
    text = write_checkpoint(kept, "c1")
    assert read_checkpoint(text, "c1") == kept
    assert "EXP-1" not in text


def test_what_no_file_can_hold_is_replaced(tmp_path):
    signs = (Sign.UNDERSTOOD, Sign.ASSESSED, Sign.APPROVAL_NEEDED)
    process = Process().advance(
        *(Evidence(sign=sign) for sign in signs),
        Evidence(sign=Sign.APPROVAL_PENDING, subject="P\ud800", approval_id="\udfff"),
    )
    store = CheckpointStore(tmp_path)
    store.save("c1", Checkpoint(process=process.with_note("\ud800")))
    [approval] = store.load("c1").process.approvals
    assert (approval.subject, approval.approval_id) == ("P?", "?")


def test_a_checkpoint_does_not_tell_the_id_of_its_conversation():
    assert "secret-context" not in write_checkpoint(KEPT, "secret-context")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[" * 100_000,
        '{"version": true}',
        '{"version": 2}',
        '{"version": 1e400}',
        b"\xff\xfe",
        " " * 70_000,
        changed(state="DREAMING"),
        changed(extra=1),
        changed(notes=["n"] * 1_000),
        changed(needs=[{"subject": "P1", "tool": "order"}]),
        changed(approvals=[{"subject": "P1", "status": "GRANTED!"}]),
    ],
)
def test_a_damaged_checkpoint_begins_anew_with_a_note(text):
    found = read_checkpoint(text, "c1")
    assert found.policy_hash == ""
    assert found.process == Process(notes=("the checkpoint is damaged; started over",))


@pytest.mark.parametrize("version", [1, 3])
def test_a_checkpoint_of_another_version_begins_anew_with_a_note(version):
    process = read_checkpoint(changed(version=version), "c1").process
    assert process == Process(
        notes=(f"the checkpoint is of version {version}, not 2; started over",)
    )


def test_a_checkpoint_of_another_conversation_begins_anew_with_a_note():
    process = read_checkpoint(changed(), "c2").process
    assert process == Process(notes=("the checkpoint is of another conversation; started over",))


def test_a_kind_that_is_no_longer_known_is_general():
    assert read_checkpoint(changed(kind="yak_shaving"), "c1").process.kind == "general"


def test_the_store_gives_back_the_newest_process_of_each_conversation(tmp_path):
    store = CheckpointStore(tmp_path / "state")
    assert store.load("c1") is None
    store.save("c1", Checkpoint(process=Process()))
    store.save("c1", KEPT)
    store.save("../../c2", Checkpoint(process=Process(kind="general")))
    again = CheckpointStore(tmp_path / "state")
    kept = again.load("c1"), again.load("../../c2")
    assert [each.process for each in kept] == [WAITING, Process()]
    files = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    assert files == sorted(f"{key_of(each)}.json" for each in ("c1", "../../c2"))


def test_the_store_keeps_the_newest_files_only(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "MAX_FILES", 3)
    store = CheckpointStore(tmp_path)
    for at in range(6):
        store.save(f"c{at}", KEPT)
    kept = [at for at in range(6) if store.load(f"c{at}")]
    assert len(kept) == 3


def test_a_disk_that_refuses_is_logged_and_the_agent_goes_without(tmp_path, caplog):
    (tmp_path / "checkpoints").write_text("in the way")
    store = CheckpointStore(tmp_path)
    with caplog.at_level(logging.WARNING):
        store.save("c1", KEPT)
        process = store.load("c1").process
    assert process.state is State.DECOMPOSE
    assert process.notes == ("the checkpoint cannot be read; started over",)
    assert len(caplog.records) == 2
