"""What the service and the process that plays its evaluations say to each other, as bytes.

A frame is its length in four bytes and a pickled object. Both ends are the same program; what an
agent wrote is in them as text only.
"""

from __future__ import annotations

import asyncio
import copyreg
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from a2a.types import Part
from pydantic import SecretStr

from adk_agent.results.progress import Progress
from adk_agent.service.playing.player import Order, Played

if TYPE_CHECKING:
    from adk_agent.assembly import Assembly

_LENGTH_BYTES = 4
_BUFFER_BYTES = 2**20


@dataclass(frozen=True, kw_only=True)
class Hello:
    """The first frame to the worker: what it plays with, and what its log may not show."""

    assembly: Assembly
    own_addresses: Sequence[str]
    secrets: Sequence[SecretStr]


@dataclass(frozen=True)
class Ready:
    """The worker's answer: it can play."""


@dataclass(frozen=True)
class CannotStart:
    """The worker's answer: it cannot, and ends."""

    error: Exception


@dataclass(frozen=True)
class ReportOf:
    """Asks for a run's artifact by the report on disk, or by what its dead player finished."""

    run_id: str
    rebuilt: bool


@dataclass(frozen=True)
class Asked:
    """To the worker: something to do, under a number that its answers bear."""

    number: int
    what: Order | ReportOf


@dataclass(frozen=True)
class Cancel:
    """To the worker: end what was asked under this number. Its `Ended` comes all the same."""

    number: int


@dataclass(frozen=True)
class Close:
    """To the worker: cancel everything, and end."""


@dataclass(frozen=True)
class Told:
    """From the worker: progress."""

    number: int
    progress: Progress


@dataclass(frozen=True)
class Canceled:
    """How something ended: it was canceled."""


@dataclass(frozen=True)
class Broke:
    """How something ended: by a fault, which the worker has logged."""


@dataclass(frozen=True)
class Ended:
    """From the worker: what came of it."""

    number: int
    outcome: Played | list[Part] | Canceled | Broke | None


def framed(message: object) -> bytes:
    """A message as bytes."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return len(data).to_bytes(_LENGTH_BYTES, "big") + data


async def reader_from(pipe: IO[bytes]) -> asyncio.StreamReader:
    """What comes through a pipe, for `read_frame`."""
    reader = asyncio.StreamReader(limit=_BUFFER_BYTES)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    return reader


async def writer_to(pipe: IO[bytes]) -> asyncio.StreamWriter:
    """Takes what is to go through a pipe."""
    loop = asyncio.get_running_loop()
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    return asyncio.StreamWriter(transport, protocol, None, loop)


async def read_frame(reader: asyncio.StreamReader) -> Any:
    """The next message.

    Raises:
        asyncio.IncompleteReadError: there is none any more.
    """
    length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big")
    return _unpickled(await reader.readexactly(length))


def blocking_frame(file: IO[bytes]) -> Any:
    """The next message.

    Raises:
        EOFError: there is none any more.
    """
    return _unpickled(_exactly(file, int.from_bytes(_exactly(file, _LENGTH_BYTES), "big")))


def _exactly(file: IO[bytes], count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise EOFError
    return data


def _unpickled(data: bytes) -> Any:
    return pickle.loads(data)  # noqa: S301 - from a process of ours, through a pipe of its own


def _part(data: bytes) -> Part:
    return Part.FromString(data)


copyreg.pickle(Part, lambda part: (_part, (part.SerializeToString(),)))
