"""Git: runs the git program on repositories that are not to be trusted.

Nothing is ever checked out: a commit's files are read from its objects, so that no hook, filter or
attribute of the repository is obeyed.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

from tau_bridge.clock import Clock
from tau_bridge.data_sets.limits import MIB, FetchLimits
from tau_bridge.data_sets.members import CHUNK, Member
from tau_bridge.data_sets.sources import Source
from tau_bridge.errors import FetchError

_KEPT_VARIABLES = ("GIT_SSH", "GIT_SSL", "GIT_PROXY", "GIT_ASKPASS", "GIT_TRACE")
"""Beginnings of those variables of git that are about the way to a server."""
_POLL_S = 0.1
_READING = 5
"""Times the limit without progress that reading and writing all files may take."""
_MOST_STDERR = 600
_NO_COMMIT = (
    "not our ref",
    "unadvertised object",
    "couldn't find remote ref",
    "no such remote ref",
)

OnBytes = Callable[[int], None]
"""Is told how many bytes git has fetched."""


class Git:
    """The git program.

    Args:
        environment: That of this process.
        limits: The bounds.
        clock: The time.
        program: Its name or path.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        *,
        limits: FetchLimits,
        clock: Clock,
        program: str = "git",
    ) -> None:
        self._environment = {
            name: value
            for name, value in environment.items()
            if not name.startswith("GIT_") or name.startswith(_KEPT_VARIABLES)
        }
        self._limits = limits
        self._clock = clock
        self._program = program

    def fetch(self, source: Source, commit: str, folder: Path, on_bytes: OnBytes) -> None:
        """Make a repository with one commit of another one, in a new folder.

        The contents of its files are left out where the server can do so.

        Raises:
            FetchError: The repository cannot be reached, or has no such commit.
        """
        self._run(["init", "--quiet", "--bare", "--template=", "--", str(folder)])
        wanted = ["--depth=1", "--filter=blob:none", *_FETCH, "--", "origin", commit]
        self._fetch(source, wanted, folder, on_bytes)

    def fetch_contents(
        self, source: Source, objects: Sequence[str], folder: Path, on_bytes: OnBytes
    ) -> None:
        """Fetch contents that were left out.

        Raises:
            FetchError: The repository does not give them.
        """
        wanted = ["--filter=blob:none", "--stdin", *_FETCH, "--", "origin"]
        self._fetch(source, wanted, folder, on_bytes, "".join(f"{each}\n" for each in objects))

    def has(self, folder: Path, commit: str) -> bool:
        """Tell whether a repository of this machine has a commit."""
        asked = ["cat-file", "-e", f"{commit}^{{commit}}"]
        return self._ended(["--git-dir", str(folder), *asked], _variables({}))[0] == 0

    def files(self, folder: Path, commit: str) -> list[tuple[str, str, bool]]:
        """Return path, object and whether it is a regular file, of each file of a commit.

        Raises:
            FetchError: They cannot be read.
        """
        listed = self._run(
            ["--git-dir", str(folder), "ls-tree", "-r", "-z", "--full-tree", commit, "--"]
        )
        found = []
        for line in listed.split(b"\0")[:-1]:
            about, _, path = line.partition(b"\t")
            mode, kind, name = about.decode("ascii").split()
            if kind == "blob":
                regular = mode.startswith("100")
                found.append((path.decode("utf-8", "surrogateescape"), name, regular))
        return found

    def members(self, folder: Path, files: Sequence[tuple[str, str, bool]]) -> Iterator[Member]:
        """Yield files of a repository of this machine with their contents.

        Raises:
            FetchError: A content is not there.
        """
        arguments = ["--git-dir", str(folder), "cat-file", "--batch"]
        pipe = subprocess.PIPE
        with self._started(arguments, _variables({}), pipe, pipe) as (process, errors):
            # Who reads its output would wait as long as git does.
            alarm = threading.Timer(_READING * self._limits.stalled_s, _kill, [process])
            alarm.daemon = True
            alarm.start()
            try:
                for path, name, regular in files:
                    content = partial(_content, process, name, path, errors)
                    yield Member(path, "file" if regular else "link", content)
            finally:
                alarm.cancel()

    # -- running it ------------------------------------------------------------------------------

    def _fetch(
        self, source: Source, wanted: list[str], folder: Path, on_bytes: OnBytes, stdin: str = ""
    ) -> None:
        way = source.place.partition("://")[0].lower() if "://" in source.place else "ssh"
        environment = _variables(
            {
                "remote.origin.url": source.place,
                "http.followRedirects": "initial" if way == "https" else "false",
            },
            transport=way,
        )
        arguments = ["--git-dir", str(folder), "fetch", *wanted]
        code, _, said = self._ended(arguments, environment, stdin, (folder, on_bytes))
        if code == 0:
            return
        said = source.hidden(said)
        if any(sign in said.lower() for sign in _NO_COMMIT):
            raise FetchError(f"{source.shown} has no such commit, or does not give it: {said}")
        raise FetchError(f"{source.shown} cannot be fetched by git: {said}")

    def _run(self, arguments: list[str]) -> bytes:
        code, output, said = self._ended(arguments, _variables({}))
        if code != 0:
            raise FetchError(f"git cannot read the repository: {said}")
        return output

    def _ended(
        self,
        arguments: list[str],
        variables: Mapping[str, str],
        stdin: str = "",
        watched: tuple[Path, OnBytes] | None = None,
    ) -> tuple[int, bytes, str]:
        """Run git to its end and return its exit code, its output, and its last words."""
        with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as output:
            asked.write(stdin.encode())
            asked.seek(0)
            with self._started(arguments, variables, asked, output) as (process, errors):
                self._wait(process, *(watched or (None, None)), written=(output, errors))
                output.seek(0)
                listed = output.read(self._limits.header_bytes + 1)
                if len(listed) > self._limits.header_bytes:
                    raise FetchError("the list of the repository's files is too long: no task data")
                return process.returncode, listed, _read(errors)

    def _wait(
        self,
        process: subprocess.Popen[bytes],
        folder: Path | None,
        on_bytes: OnBytes | None,
        *,
        written: Sequence[IO[bytes]],
    ) -> None:
        """Wait for the end, as long as there is progress and it does not become too much."""
        seen, since, ended = -1, self._clock.monotonic_s(), False
        while not ended:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_POLL_S)
                ended = True
            size = sum(os.fstat(each.fileno()).st_size for each in written)
            size += _size(folder) if folder is not None else 0
            if size > self._limits.download_bytes:
                raise FetchError(
                    f"the repository has more than {self._limits.download_bytes // MIB} MiB: it is "
                    "no task data"
                )
            if size != seen:
                seen, since = size, self._clock.monotonic_s()
                if on_bytes is not None:
                    on_bytes(size)
            if self._clock.monotonic_s() - since > self._limits.stalled_s:
                raise FetchError(f"git made no progress for {self._limits.stalled_s:g} s")

    @contextmanager
    def _started(
        self,
        arguments: list[str],
        variables: Mapping[str, str],
        stdin: int | IO[bytes],
        stdout: int | IO[bytes],
    ) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
        """Start git in a group of its own, without a terminal, and end it with all that it began."""
        with tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(  # noqa: S603 - the program is git, addresses no options
                    [self._program, *arguments],
                    stdin=stdin,
                    stdout=stdout,
                    stderr=errors,
                    env={**self._environment, **variables},
                    start_new_session=True,
                )
            except OSError as error:
                raise FetchError(
                    f"git, which reads repositories, cannot be started ({error}): install it, or "
                    "name an archive with --from"
                ) from error
            try:
                yield process, errors
            finally:
                _kill(process)
                for pipe in (process.stdin, process.stdout):
                    if pipe is not None:
                        with contextlib.suppress(BrokenPipeError):
                            pipe.close()
                process.wait()


_FETCH = (
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--recurse-submodules=no",
)


def _content(
    process: subprocess.Popen[bytes], name: str, path: str, errors: IO[bytes]
) -> Iterator[bytes]:
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("git has no pipes")
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(f"{name}\n".encode())
        process.stdin.flush()
    head = process.stdout.readline(200).split()
    if len(head) != 3 or head[1] != b"blob":
        raise FetchError(
            f"the repository does not have the content of {path!r}: it is not whole"
            f"{_quoted(errors)}"
        )
    left = int(head[2])
    while left:
        chunk = process.stdout.read(min(left, CHUNK))
        if not chunk:
            raise FetchError(f"git ended while it read {path!r}{_quoted(errors)}")
        left -= len(chunk)
        yield chunk
    process.stdout.read(1)  # the end of the line


def _variables(settings: Mapping[str, str], *, transport: str = "none") -> dict[str, str]:
    """Return the environment that takes git its terminal, its hooks and its other transports.

    Settings are passed in it as well, since arguments of a process can be seen by everybody.
    """
    configured = {
        "core.hooksPath": os.devnull,
        "credential.interactive": "false",
        **settings,
    }
    pairs = enumerate(configured.items())
    return {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": transport,
        "GIT_CONFIG_COUNT": str(len(configured)),
        **{
            f"GIT_CONFIG_{part}_{number}": text
            for number, pair in pairs
            for part, text in zip(("KEY", "VALUE"), pair, strict=True)
        },
        "LC_ALL": "C",
    }


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End git and all that it began, unless it has ended."""
    if process.poll() is not None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _size(folder: Path) -> int:
    """Return the bytes of a folder from which files may vanish."""
    total = 0
    for within, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += Path(within, name).lstat().st_size
    return total


def _read(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read(1 << 16).decode("utf-8", "replace").split("\n")
    said = "; ".join(line.strip() for line in lines if line.strip() and "warning:" not in line)
    return said[-_MOST_STDERR:] or "it said nothing"


def _quoted(errors: IO[bytes]) -> str:
    said = _read(errors)
    return "" if said == "it said nothing" else f" ({said})"
