"""Server: forks a child for each piece of work, and passes its messages on."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import selectors
import signal
import socket
import sys
from dataclasses import dataclass, field
from typing import Any

from .link import JsonObject, Lines, Link, described, line_of, write_all
from .work import WORK, describe_tools, work

_CHUNK_BYTES = 65_536


@dataclass
class Child:
    """A process that does one piece of work."""

    sim: str
    pid: int
    pipe: socket.socket
    lines: Lines = field(default_factory=Lines)


class Server:
    """Forks a child for each piece of work, and passes its messages on. One thread."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._lines = Lines()
        self._children: dict[str, Child] = {}
        self._tasks: dict[str, dict[str, Any]] = {}
        self._selector = selectors.DefaultSelector()

    def send(self, message_type: str, **fields: Any) -> None:
        """Send a message to the assessor."""
        write_all(self._sink, line_of({"type": message_type, **fields}))

    def serve(self) -> None:
        """Pass messages on until there is nobody to serve, or `quit` comes."""
        self._selector.register(self._source, selectors.EVENT_READ)
        try:
            while True:
                for key, _ in self._selector.select():
                    if key.data is None:
                        if not self._read_assessor():
                            return
                    elif key.data.sim in self._children:
                        self._read_child(key.data)
        finally:
            for child in list(self._children.values()):
                self._end(child)

    def _read_assessor(self) -> bool:
        chunk = os.read(self._source, _CHUNK_BYTES)
        return bool(chunk) and all(self._obey(line) for line in self._lines.add(chunk))

    def _obey(self, line: bytes) -> bool:
        message = json.loads(line)
        kind, sim = message["type"], message.get("sim", "")
        if kind == "quit":
            return False
        if kind == "ping":
            self.send("pong", **_used())
        elif kind in WORK and sim not in self._children:
            self._begin(sim, message)
        elif child := self._children.get(sim):
            # What comes for one that has ended is of no use to anybody.
            if kind == "cancel":
                self._end(child)
            else:
                with contextlib.suppress(BrokenPipeError):
                    child.pipe.sendall(line)
        return True

    def _begin(self, sim: str, order: JsonObject) -> None:
        try:
            task = self._task(order)
            if order["type"] == "run":
                describe_tools(order, task)
        except Exception as error:  # noqa: BLE001 - it may be anything of the engine's
            self.send("error", sim=sim, **described(error), phase="load")
            return
        gc.freeze()  # children share what is there; a collection in one would copy it
        ours, theirs = socket.socketpair()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            try:
                gc.disable()  # it does not live long enough for one to pay
                ours.close()
                self._leave_to_parent()
                work(Link(theirs, sim), order, task)
            finally:
                os._exit(1)  # a child never serves
        theirs.close()
        child = Child(sim, pid, ours)
        self._children[sim] = child
        self._selector.register(ours, selectors.EVENT_READ, child)

    def _task(self, order: JsonObject) -> Any:
        """Return the task of an order; those of its domain are read the first time."""
        if "task" in order:
            from tau2.data_model.tasks import Task

            return Task.model_validate(order["task"])
        domain, task_id = order["domain"], order["task_id"]
        if domain not in self._tasks:
            from tau2.registry import registry

            found = registry.get_tasks_loader(domain)(None)
            self._tasks[domain] = {each.id: each for each in found}
        if task_id not in self._tasks[domain]:
            raise ValueError(f"the engine's {domain} has no task {task_id!r}")
        return self._tasks[domain][task_id]

    def _leave_to_parent(self) -> None:
        """Close, in a child, what is the parent's."""
        self._selector.close()
        for child in self._children.values():
            child.pipe.close()
        os.close(self._source)
        os.close(self._sink)

    def _read_child(self, child: Child) -> None:
        try:
            chunk = child.pipe.recv(_CHUNK_BYTES)
        except ConnectionResetError:
            chunk = b""
        if not chunk:
            self._exited(child)
            return
        for line in child.lines.add(chunk):
            write_all(self._sink, line)

    def _exited(self, child: Child) -> None:
        code = os.waitstatus_to_exitcode(self._forget(child))
        if code != 0:
            how = f"was killed by {_signal(-code)}" if code < 0 else f"ended with exit code {code}"
            text = f"the official engine's process of this trial {how}; the next one is a new one"
            self.send("error", sim=child.sim, kind="Exited", text=text, phase="unknown")

    def _end(self, child: Child) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
        self._forget(child)

    def _forget(self, child: Child) -> int:
        del self._children[child.sim]
        self._selector.unregister(child.pipe)
        child.pipe.close()
        return os.waitpid(child.pid, 0)[1]


def _used() -> JsonObject:
    """Return the memory of this process, and the CPU seconds of all that has ended."""
    mine = resource.getrusage(resource.RUSAGE_SELF)
    theirs = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = sum(each.ru_utime + each.ru_stime for each in (mine, theirs))
    return {"rss_kib": mine.ru_maxrss, "cpu_s": cpu_s}


def _signal(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"
