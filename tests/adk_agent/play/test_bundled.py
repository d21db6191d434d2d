"""BundledAgents: whatever interrupts their start or their end, nothing is left behind."""

import asyncio
import os
import subprocess
import tempfile
from dataclasses import dataclass, field

import pytest

from adk_agent.core.errors import PreflightError
from adk_agent.play import bundled
from adk_agent.play.bundled import BundledAgents

READY = """echo '{"agents": {"null": "http://127.0.0.1:1/"}}'"""
LASTING = "exec cat"
"""Goes on until its standard input is closed, in the same process."""


@dataclass
class Started:
    processes: list[subprocess.Popen] = field(default_factory=list)
    one: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def codes(self):
        return [process.returncode for process in self.processes]


@pytest.fixture
def files(monkeypatch):
    """The temporary files that were opened."""
    opened = []
    make = tempfile.TemporaryFile

    def recorded(*arguments, **options):
        opened.append(make(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", recorded)
    return opened


@pytest.fixture
def started(monkeypatch):
    """The processes that were started, and an event that says that there is one."""
    started = Started()

    class Recorded(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.processes.append(self)
            started.one.set()

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    return started


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Makes lines of shell what runs instead of the interpreter."""

    def make(*lines):
        script = tmp_path / "program"
        script.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        script.chmod(0o755)
        monkeypatch.setattr(bundled.sys, "executable", str(script))

    return make


def null():
    return BundledAgents(["null"], gold={})


async def test_a_start_that_is_cancelled_leaves_no_process_and_no_file(files, started, program):
    program(LASTING)
    starting = asyncio.create_task(null().__aenter__())
    await started.one.wait()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert started.codes == [-9]
    assert [each.closed for each in files] == [True]


async def test_a_wait_for_the_announcement_that_is_cancelled_leaves_no_process_and_no_file(
    files, started, program, tmp_path
):
    begun = tmp_path / "begun"
    os.mkfifo(begun)
    program("read gold", f"echo > {begun}", LASTING)
    starting = asyncio.create_task(BundledAgents(["oracle"], gold={}).__aenter__())
    await asyncio.to_thread(begun.read_text)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert started.codes == [-15]
    assert [each.closed for each in files] == [True]


async def test_a_program_that_cannot_be_started_is_named_and_leaves_no_file(
    files, monkeypatch, tmp_path
):
    monkeypatch.setattr(bundled.sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(PreflightError, match=r"null did not start: .*No such file"):
        await null().__aenter__()
    assert [each.closed for each in files] == [True]


async def test_agents_that_announce_nothing_in_time_are_an_error_of_the_preflight(
    files, started, program, monkeypatch
):
    program(LASTING)
    monkeypatch.setattr(bundled, "START_TIMEOUT_S", 0)
    with pytest.raises(PreflightError, match="null did not start within 0 s"):
        await null().__aenter__()
    assert started.codes == [-15]
    assert [each.closed for each in files] == [True]


async def test_an_end_that_is_cancelled_kills_what_does_not_stop(program, tmp_path):
    told = tmp_path / "told"
    os.mkfifo(told)
    program("trap 'echo asked >&3' TERM", READY, f"exec 3> {told}", "while :; do read x; done")
    agents = await null().__aenter__()
    assert agents.url("null") == "http://127.0.0.1:1/"
    with await asyncio.to_thread(told.open) as said:
        ending = asyncio.create_task(agents.aclose())
        assert await asyncio.to_thread(said.readline) == "asked\n"
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        assert await asyncio.to_thread(said.read) == ""  # there is nobody any more who could write


async def test_as_many_start_at_once_as_there_are_processors(
    started, program, monkeypatch, tmp_path
):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    go_on = tmp_path / "go_on"
    os.mkfifo(go_on)
    program(f"read word < {go_on}", READY, LASTING)
    crowd = [null() for _ in range(3)]
    starting = [asyncio.create_task(agents.__aenter__()) for agents in crowd]
    for count in (1, 2, 3):
        await asyncio.to_thread(go_on.write_text, "on\n")
        await starting[count - 1]
        assert len(started.processes) <= count + 1
    await asyncio.gather(*(agents.aclose() for agents in crowd))


async def test_who_is_cancelled_while_others_start_gives_up_the_turn(started, program, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    program(LASTING)
    starting = [asyncio.create_task(null().__aenter__()) for _ in range(3)]
    await started.one.wait()
    for each in starting:
        each.cancel()
    ended = await asyncio.gather(*starting, return_exceptions=True)
    assert [type(each) for each in ended] == [asyncio.CancelledError] * 3
    assert len(started.processes) == 1
    program(READY, LASTING)
    async with null() as agents:
        assert agents.url("null") == "http://127.0.0.1:1/"


async def test_no_agents_are_no_process_and_no_file(files, started):
    async with BundledAgents([], gold={}) as agents:
        assert await agents.ending() is None
    assert files == started.processes == []
