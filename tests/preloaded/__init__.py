"""Programs that start at once: see `parent.py`."""

import contextlib
import fcntl
import socket
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = ("python", "greenroom")
MOST_SECONDS = 300
STAND_IN = """\
#!{interpreter} -IS
import sys
sys.path.insert(0, {here!r})
from client import main
main({interpreter!r}, {path!r})
"""


@contextlib.contextmanager
def programs(shared):
    """A folder with a `python` and a `greenroom` that need no time to import anything.

    Args:
        shared: A folder of this run of the tests, the same for all of its workers.
    """
    shared.mkdir(exist_ok=True)
    path = str(shared / "socket")
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        user = _entered(path)
        if user is None:
            _start(path)
            user = _entered(path)
            _write_stand_ins(shared, path)
    with user:
        yield shared


def _entered(path):
    """A connection that keeps the parent alive; None where there is no parent."""
    user = socket.socket(socket.AF_UNIX)
    try:
        user.connect(path)
        user.sendall(bytes(8))
    except OSError:
        user.close()
        return None
    return user


def _start(path):
    Path(path).unlink(missing_ok=True)
    command = [sys.executable, str(HERE / "parent.py"), path]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, cwd="/", text=True
    ) as process:
        assert process.stdout.readline() == "ready\n"


def _write_stand_ins(folder, path):
    text = STAND_IN.format(interpreter=sys.executable, here=str(HERE), path=path)
    for name in PROGRAMS:
        file = folder / name
        file.write_text(text)
        file.chmod(0o755)
