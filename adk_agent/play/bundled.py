"""BundledAgents: runs the reference agents that a request names, in a process of their own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO, Any, Self
from weakref import WeakKeyDictionary

from adk_agent.core.errors import PreflightError
from adk_agent.core.plan import NEEDS_GOLD
from adk_agent.requests.agents import TEAM_PREFIX

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 5.0
WIRE_TIMEOUT_S = 10.0
NOTICE_TIMEOUT_S = 1.0

_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class BundledAgents:
    """Bundled agents on free loopback ports, stopped when the context ends.

    Args:
        names: Which agents, by name; none starts no process.
        gold: The scripts of agents in `NEEDS_GOLD`, each task's solution by `domain/id`; handed over on standard input, so that it
            stands neither in a file nor on a command line.
        wired: Whether the members of teams wait for their peers' addresses, see `wire`.
        seed: Draws the faults of teams that have them with a share.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        gold: Mapping[str, Any],
        wired: bool = False,
        seed: int = 0,
    ) -> None:
        self._names = tuple(dict.fromkeys(names))
        self._gold = gold
        self._wired = wired
        self._seed = seed
        self._process: asyncio.subprocess.Process | None = None
        self._urls: dict[str, str] = {}
        self._members: dict[str, dict[str, str]] = {}
        self._stderr: IO[bytes] | None = None

    async def ending(self) -> str | None:
        """Say how the agents' process ended; None if there is none, or it runs on for a second."""
        if self._process is None:
            return None
        try:
            async with asyncio.timeout(NOTICE_TIMEOUT_S):
                code = await self._process.wait()
        except TimeoutError:
            return None
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        return f"the bundled agents' process ended ({how})"

    def url(self, name: str) -> str:
        """Return the address of a started agent; of a team, that of its entry."""
        return self._urls[name]

    def members(self, team: str) -> Mapping[str, str]:
        """Return the addresses of a started team's members, by name."""
        return self._members[team]

    async def wire(self, peers: Mapping[str, Mapping[str, Mapping[str, str]]]) -> None:
        """Tell the members of teams where each reaches the others from now on.

        Args:
            peers: Team, member, and then its peers' addresses by name.

        Raises:
            PreflightError: they do not confirm.
        """
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("no bundled agents are running")
        try:
            async with asyncio.timeout(WIRE_TIMEOUT_S):
                self._process.stdin.write(json.dumps(peers).encode() + b"\n")
                await self._process.stdin.drain()
                confirmed = await self._process.stdout.readline()
        except (TimeoutError, ConnectionError) as error:
            raise PreflightError(
                f"the bundled teams did not take their addresses: {error}"
            ) from error
        if not confirmed:
            raise PreflightError("the bundled teams ended before they confirmed their addresses")

    async def __aenter__(self) -> Self:
        """Start the process and wait until its agents answer.

        Raises:
            PreflightError: they did not come up.
        """
        if self._names:
            try:
                async with _turns_to_start():
                    await self._start()
            except BaseException:
                await self.aclose()
                raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stop the process."""
        await self.aclose()

    async def _start(self) -> None:
        named = f"the bundled agents {', '.join(self._names)} did not start"
        # A file, because a pipe that nobody reads would stop an agent that logs a lot.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in aclose
        try:
            self._process = await asyncio.create_subprocess_exec(
                *[sys.executable, "-P", "-m", "purple_agent", *self._names, *self._arguments()],
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=self._stderr,
                start_new_session=True,  # Ctrl-C is for the assessor, which then stops them
            )
            async with asyncio.timeout(START_TIMEOUT_S):
                announced = await self._announcement(self._process, self._stderr)
        except TimeoutError as error:
            raise PreflightError(f"{named} within {START_TIMEOUT_S:g} s") from error
        except OSError as error:
            raise PreflightError(f"{named}: {error}") from error
        self._urls = announced["agents"]
        self._members = announced.get("members", {})

    def _arguments(self) -> list[str]:
        gold = [] if NEEDS_GOLD.isdisjoint(self._names) else ["--gold", "-"]
        teams = any(name.startswith(TEAM_PREFIX) for name in self._names)
        of_teams = ["--seed", str(self._seed), *(["--wire"] if self._wired else [])]
        beside = [*gold, *(of_teams if teams else [])]
        return ["--host", "127.0.0.1", "--port", "0", "--announce", *beside]

    async def _announcement(
        self, process: asyncio.subprocess.Process, stderr: IO[bytes]
    ) -> dict[str, Any]:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the bundled agents' process has no pipes")
        if not NEEDS_GOLD.isdisjoint(self._names):
            # An agent that died at once has closed the pipe; its message is read below.
            with contextlib.suppress(ConnectionError):
                process.stdin.write(json.dumps(self._gold).encode() + b"\n")
                await process.stdin.drain()
        line = await process.stdout.readline()
        if not line:
            await process.wait()
            stderr.seek(0)
            complaint = stderr.read().decode(errors="replace").strip()
            names = ", ".join(self._names)
            raise PreflightError(
                f"the bundled agents {names} did not start: {complaint[-500:] or 'no message'}"
            )
        announced: dict[str, Any] = json.loads(line)
        return announced

    async def aclose(self) -> None:
        """Stop the process; kill it if it does not stop in time. May be called twice."""
        process, self._process = self._process, None
        stderr, self._stderr = self._stderr, None
        if stderr is not None:
            stderr.close()
        if process is None or process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(STOP_TIMEOUT_S):
                    await process.communicate()
        finally:  # of a cancellation too: what is killed ends at once
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.communicate()


def _turns_to_start() -> asyncio.Semaphore:
    """Return a semaphore with a turn for each CPU: a start keeps one busy for a second."""
    loop = asyncio.get_running_loop()
    return _turns.setdefault(loop, asyncio.Semaphore(os.cpu_count() or 1))
