"""Messages as lines, and the connection of one piece of work with the assessor."""

from __future__ import annotations

import json
import os
import socket
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_LINE_BYTES = 16 * 2**20

JsonObject = dict[str, Any]


def line_of(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line.

    Raises:
        ValueError: It is longer than a line may be.
    """
    line = json.dumps(message).encode() + b"\n"
    if len(line) > MAX_LINE_BYTES:
        raise ValueError(f"a message of {len(line)} bytes is longer than {MAX_LINE_BYTES}")
    return line


def write_all(descriptor: int, content: bytes) -> None:
    """Write all of it."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


@dataclass
class Lines:
    """Cuts what comes in into lines."""

    rest: bytearray = field(default_factory=bytearray)

    def add(self, chunk: bytes) -> Iterator[bytes]:
        """Take a chunk; yield the lines that are complete with it, each with its end."""
        self.rest += chunk
        while (end := self.rest.find(b"\n")) >= 0:
            line = bytes(self.rest[: end + 1])
            del self.rest[: end + 1]
            yield line
        if len(self.rest) > MAX_LINE_BYTES:
            raise ValueError(f"a line is longer than {MAX_LINE_BYTES} bytes")


class Told(Exception):  # noqa: N818 - what it tells is meant for the assessor as it is
    """Base of the errors of the worker's own."""


class Aborted(Told):
    """The assessor ends this conversation."""


def described(error: BaseException) -> JsonObject:
    """Return an error as the fields of a message, with the line of the engine that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    known = isinstance(error, Told) or not frames
    where = "" if known else f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
    return {"kind": type(error).__name__, "text": f"{str(error)[:4000]}{where}"}


class Link:
    """A child's connection with the assessor."""

    def __init__(self, pipe: socket.socket, sim: str) -> None:
        self._pipe = pipe
        self._incoming = pipe.makefile("rb")
        self._sim = sim
        self._seq = 0
        self.phase = "build"
        self.said: Callable[[], list[Any]] = list
        """Returns what has been said so far."""

    def send(self, message_type: str, **fields: Any) -> None:
        """Send a message."""
        self._pipe.sendall(line_of({"type": message_type, "sim": self._sim, **fields}))

    def receive(self) -> JsonObject:
        """Return the next message.

        Raises:
            Aborted: There is nobody any more who sends one.
        """
        line = self._incoming.readline()
        if not line:
            raise Aborted("there is no assessor any more")
        message: JsonObject = json.loads(line)
        return message

    def ask(self, message_type: str, **fields: Any) -> JsonObject:
        """Send a message and return the reply.

        Raises:
            Aborted: The assessor ends the conversation.
        """
        self._seq += 1
        self.send(message_type, seq=self._seq, **fields)
        reply = self.receive()
        while reply.get("seq") != self._seq:
            reply = self.receive()
        if reply.get("error") is not None:
            raise Aborted(str(reply["error"]))
        message: JsonObject = reply["message"]
        return message
