"""Programs that start at once behave as those of a fresh interpreter do."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.preloaded.client import is_possible

ECHO = "import os, sys; print(sys.argv[1:], os.getcwd(), os.environ.get('TOLD'), sys.stdin.read())"
WAITS = "print('waiting', flush=True); import signal; signal.pause()"
OBEYS = f"import signal, sys; signal.signal(15, lambda *_: sys.exit(9)); {WAITS}"


@pytest.fixture(params=["fresh", "at once"])
def python(request):
    """An interpreter, and one that stands in for it."""
    if request.param == "fresh":
        return sys.executable
    folder = request.getfixturevalue("programs_that_start_at_once")
    return str(folder / "python")


def run(*command, **options):
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, **options
    )


def test_arguments_streams_folder_and_environment_are_the_callers(python, tmp_path):
    told = {**os.environ, "TOLD": "yes"}
    done = run(python, "-c", ECHO, "a", "b c", cwd=tmp_path, env=told, input="heard")
    assert (done.stdout, done.stderr) == (f"['a', 'b c'] {tmp_path} yes heard\n", "")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("pass", (0, "")),
        ("import sys; sys.exit(7)", (7, "")),
        ("import sys; sys.exit('no')", (1, "no\n")),
        ("import atexit; atexit.register(print, 'bye')", (0, "")),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", (-signal.SIGKILL, "")),
    ],
)
def test_a_program_ends_with_its_code(python, code, expected):
    done = run(python, "-c", code)
    assert (done.returncode, done.stderr) == expected
    assert done.stdout == ("bye\n" if "bye" in code else "")


def test_an_error_is_told_and_ends_with_1(python):
    done = run(python, "-c", "raise ValueError('as expected')")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "ValueError: as expected"


def test_a_file_and_a_module_find_their_neighbours(python, tmp_path):
    (tmp_path / "neighbour.py").write_text("NAME = 'next door'\n")
    program = tmp_path / "program.py"
    program.write_text("from neighbour import NAME\nprint(__name__, NAME)\n")
    assert run(python, program, cwd="/").stdout == "__main__ next door\n"
    assert run(python, "-m", "program", cwd=tmp_path).stdout == "__main__ next door\n"
    told = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert run(python, "-P", "-m", "program", cwd="/", env=told).stdout == "__main__ next door\n"


@pytest.mark.parametrize(
    ("code", "sent", "expected"),
    [
        (WAITS, signal.SIGTERM, -signal.SIGTERM),
        (WAITS, signal.SIGINT, -signal.SIGINT),
        (WAITS, signal.SIGKILL, -signal.SIGKILL),
        (OBEYS, signal.SIGTERM, 9),
    ],
)
def test_a_signal_reaches_the_program(python, code, sent, expected):
    command = [python, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as program:
        assert program.stdout.readline() == "waiting\n"
        program.send_signal(sent)
        assert program.stdout.read() == ""  # it is gone: nobody else holds the stream
    assert program.returncode == expected


def test_what_cannot_start_at_once_is_run_by_the_interpreter_itself(programs_that_start_at_once):
    python = programs_that_start_at_once / "python"
    assert not is_possible(["-V"])
    assert run(python, "-V").stdout == run(sys.executable, "-V").stdout


def test_the_command_is_there_as_well(programs_that_start_at_once, tmp_path):
    at_once = run(programs_that_start_at_once / "greenroom", "run", "Hello", cwd=tmp_path)
    fresh = run(Path(sys.executable).with_name("greenroom"), "run", "Hello", cwd=tmp_path)
    assert (at_once.returncode, at_once.stdout, at_once.stderr) == (2, "", fresh.stderr)
