"""Stands for a program that runs as a fork of `parent.py`, in place of a `python` or `greenroom`.

Hands over its arguments, folder, environment and streams, passes signals on, and ends as the
program does. What the parent cannot be asked for is run by a fresh interpreter.
"""

import json
import os
import signal
import socket
import sys

LENGTH_BYTES = 8
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
NO_ANSWER = 70


def is_possible(arguments):
    """Whether these arguments of an interpreter are understood by the parent."""
    rest = arguments[1:] if arguments[:1] == ["-P"] else arguments
    return bool(rest) and (rest[0] in {"-m", "-c"} or rest[0].endswith(".py"))


def stand_in(called, arguments, path):
    """Let the parent at a socket run a program, and end as it ends."""
    body = json.dumps(
        {
            "arguments": [called, *arguments],
            "folder": os.getcwd(),  # noqa: PTH109 - pathlib takes longer than all else here
            "environment": dict(os.environ),
        }
    ).encode()
    parent = socket.socket(socket.AF_UNIX)
    parent.connect(path)
    for number in PASSED_ON:
        signal.signal(number, lambda number, _: parent.send(bytes([number])))
    socket.send_fds(parent, [len(body).to_bytes(LENGTH_BYTES, "big")], [0, 1, 2])
    parent.sendall(body)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)  # a pipe ends when the program is gone
    end(parent.recv(4))


def end(answer):
    if not answer:
        os._exit(NO_ANSWER)
    code = int.from_bytes(answer, "big", signed=True)
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def main(interpreter, path):
    called, *arguments = sys.argv
    if called.endswith("python") and not is_possible(arguments):
        os.execv(interpreter, [interpreter, *arguments])  # noqa: S606 - what would be run otherwise
    stand_in(called, arguments, path)
