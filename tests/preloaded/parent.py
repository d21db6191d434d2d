"""Runs Python programs as forks of one process that has imported what they need.

A fresh `greenroom run` spends nearly all of its time on imports. A fork of this process has its
own memory, folder, environment, streams and exit code as a fresh one does, and spends none.

    python parent.py SOCKET

A connection that sends an empty message is a user: when the last one is gone, this ends with all
that it runs. Any other one is a program's: see `client.py`, which stands for it.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import threading
import warnings
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

NEEDED = (
    "adk_agent.assembly",
    "adk_agent.requests.catalogue",
    "adk_agent.cli.display",
    "adk_agent.cli.edge",
    "adk_agent.cli.gate",
    "adk_agent.cli.listing",
    "adk_agent.cli.run",
    "adk_agent.cli.score",
    "adk_agent.cli.serve",
    "adk_agent.play.executors.ray_executor",
    "adk_agent.service.playing.in_process",
    "adk_agent.service.server",
    "adk_agent.workflow.agents",
    "adk_agent.workflow.session",
    "adk_agent.workflow.sequence",
    "anyio._backends._asyncio",
    "authlib",
    "docstring_parser",
    "google.adk.apps.compaction",
    "google.adk.auth.auth_handler",
    "google.adk.flows.llm_flows.auto_flow",
    "google.adk.memory.in_memory_memory_service",
    "google.adk.models.google_llm",
    "google.adk.runners",
    "google.adk.sessions.in_memory_session_service",
    "google.adk.workflow._workflow",
    "h2",
    "httpcore",
    "networkx",
    "numpy.ma",
    "numpy.random",
    "purple_agent.memory.command",
    "purple_agent.reference.agent",
    "purple_agent.server",
    "purple_agent.teams.member",
    "requests",
    "rich._emoji_codes",
    "rich.live",
    "rich.progress",
    "tests.fakes",
    "tau_bridge.tau2.data",
    "uvicorn.lifespan.on",
    "uvicorn.protocols.http.h11_impl",
)
"""What programs import, also those parts that others import late; one that is missing is no harm."""
FILES_OF_A_PROGRAM = 3
LENGTH_BYTES = 8


@dataclass
class Program:
    """What a client asks for."""

    arguments: list
    folder: str
    environment: dict
    files: list = field(default_factory=list)


class Parent:
    """Forks a child for each program, and tells its client how it ended."""

    def __init__(self, listener):
        self._listener = listener
        self._users = set()
        self._children = {}
        self._selector = selectors.DefaultSelector()
        self._selector.register(listener, selectors.EVENT_READ, self._accept)
        self._woken, self._wakes = socket.socketpair()
        for end in (self._woken, self._wakes):
            end.setblocking(False)
        self._selector.register(self._woken, selectors.EVENT_READ, self._reap)
        signal.set_wakeup_fd(self._wakes.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # users end this, by leaving

    def program(self):
        """In each child, its program; in the parent None, when no user is left."""
        while True:
            for key, _ in self._selector.select():
                program = key.data(key.fileobj)
                if program is not None:
                    return program
                if key.data == self._leave and not self._users:
                    self._end()
                    return None

    def _accept(self, listener):
        connection, _ = listener.accept()
        program = received(connection)
        if program is None:
            self._users.add(connection)
            self._selector.register(connection, selectors.EVENT_READ, self._leave)
            return None
        pid = os.fork()
        if pid == 0:
            connection.close()
            self._become_a_child()
            return program
        for file in program.files:
            os.close(file)
        self._children[pid] = connection
        self._selector.register(connection, selectors.EVENT_READ, self._pass_on)
        return None

    def _become_a_child(self):
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._selector.close()
        for each in (self._listener, self._woken, self._wakes, *self._users):
            each.close()
        for each in self._children.values():
            each.close()
        os.setsid()

    def _leave(self, connection):
        self._selector.unregister(connection)
        self._users.discard(connection)
        connection.close()

    def _pass_on(self, connection):
        """A signal that a client received; a client that is gone takes its program along."""
        numbers = b""
        with contextlib.suppress(ConnectionError):
            numbers = connection.recv(16)
        if not numbers:
            self._selector.unregister(connection)
        for pid in [pid for pid, client in self._children.items() if client is connection]:
            for number in numbers or (signal.SIGKILL,):
                os.kill(pid, number)

    def _reap(self, woken):
        with contextlib.suppress(BlockingIOError):
            woken.recv(4096)
        for pid in list(self._children):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                connection = self._children.pop(pid)
                with contextlib.suppress(KeyError, ValueError):
                    self._selector.unregister(connection)
                with contextlib.suppress(OSError):
                    code = os.waitstatus_to_exitcode(status)
                    connection.sendall(code.to_bytes(4, "big", signed=True))
                connection.close()

    def _end(self):
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def received(connection):
    """The program that a client asks for; None is a user's greeting."""
    head, files, _, _ = socket.recv_fds(connection, LENGTH_BYTES, FILES_OF_A_PROGRAM)
    missing = int.from_bytes(head, "big")
    if missing == 0:
        return None
    body = b""
    while len(body) < missing:
        more = connection.recv(missing - len(body))
        if not more:
            for file in files:
                os.close(file)
            return None  # a client that was killed; its connection ends like a user's
        body += more
    return Program(**json.loads(body), files=files)


def perform(program):
    """Be the program: its streams, folder, environment and arguments, and then its code."""
    for number, file in enumerate(program.files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(program.folder)
    os.environ.clear()
    os.environ.update(program.environment)
    if "PYTHONUNBUFFERED" in os.environ:
        sys.stdout.reconfigure(write_through=True)
    called, *arguments = program.arguments
    sys.executable = str(Path(called).with_name("python"))
    sys.path[:0] = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    if Path(called).name == "greenroom":
        perform_command(arguments)
    else:
        perform_python(arguments)


def perform_command(arguments):
    from adk_agent.cli.main import console

    sys.argv = ["greenroom", *arguments]
    console()


def perform_python(arguments):
    is_safe = arguments[0] == "-P"
    option, *rest = arguments[is_safe:]
    if option == "-m":
        sys.argv, folder = rest, Path.cwd()
        play = partial(runpy.run_module, rest[0], run_name="__main__", alter_sys=True)
        # A module that is imported already is run as if it were not.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="runpy")
    elif option == "-c":
        sys.argv, folder = ["-c", *rest[1:]], ""
        play = partial(exec, rest[0], {"__name__": "__main__"})
    else:
        sys.argv, folder = [option, *rest], Path(option).absolute().parent
        play = partial(runpy.run_path, option, run_name="__main__")
    if not is_safe:
        sys.path.insert(0, str(folder))
    play()


def main():
    path = sys.argv[1]
    sys.path.pop(0)  # the folder of this file
    for name in NEEDED:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        if os.fork():
            os._exit(0)  # whoever started this waits for no other user
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        program = Parent(listener).program()
    if program is not None:
        end(perform_and_ask_for_the_code(program))


def perform_and_ask_for_the_code(program):
    """The exit code of a program that ends as it means to; what breaks it breaks this."""
    try:
        perform(program)
    except SystemExit as asked:
        if asked.code is None or isinstance(asked.code, int):
            return asked.code or 0
        sys.stderr.write(f"{asked.code}\n")
        return 1
    return 0


def end(code):
    """End as an interpreter does, but free nothing: the memory is that of the parent."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
