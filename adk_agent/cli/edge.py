"""The outer edge of the command line: errors become a message and an exit code."""

from __future__ import annotations

import argparse
import contextlib
import errno
import logging
import os
import sys
import tempfile
import traceback
from collections.abc import Callable

from adk_agent.cli.terminal import say
from adk_agent.core.errors import GreenroomError, exit_code_of
from adk_agent.core.files import require_writable, storage
from adk_agent.core.settings import Settings
from adk_agent.early_signals import interruptible
from tau_bridge.errors import BridgeError

OK, GATE_FAILED, USAGE, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130

TEMPORARY = ".tmp"
"""The folder for temporary files below that of the runs."""
_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
"""Errors of a file system that takes no more."""

logger = logging.getLogger(__name__)


def run_command(execute: Callable[[argparse.Namespace], int], parsed: argparse.Namespace) -> int:
    """Run a command and return its exit code; an error becomes one line on stderr."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        interruptible()
        _provide_temporary_folder(parsed)
        return _executed(execute, parsed)
    except KeyboardInterrupt:
        say("greenroom: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # a reader such as head has exited; Python would complain at exit
        return OK
    except (GreenroomError, BridgeError) as error:
        say(f"greenroom: {error}", file=sys.stderr)
        return exit_code_of(error)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _STORAGE:
            return _storage_fault(error)
        logger.debug("unexpected error in a command", exc_info=True)
        where = traceback.extract_tb(error.__traceback__)[-1]
        say(
            f"greenroom: this is a fault of greenroom: {type(error).__name__}: {error} "
            f"({where.name}, line {where.lineno} of {where.filename})",
            file=sys.stderr,
        )
        return INCOMPLETE


def _provide_temporary_folder(parsed: argparse.Namespace) -> None:
    """Keep temporary files beside the runs where the system has no folder for them.

    As in a container with a read-only root, and a volume for the runs.
    """
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        results_dir = Settings.load(results_dir=vars(parsed).get("results_dir")).results_dir
        require_writable(results_dir)
        folder = results_dir.absolute() / TEMPORARY
        with storage(folder):
            folder.mkdir(parents=True, exist_ok=True)
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder)  # also for the processes begun here


def _executed(execute: Callable[[argparse.Namespace], int], parsed: argparse.Namespace) -> int:
    code = execute(parsed)
    sys.stdout.flush()  # here an output that takes no more can still be told
    return code


def _storage_fault(error: OSError) -> int:
    if error.filename is None:  # it was standard output, which Python would try again at exit
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    where = repr(error.filename) if error.filename else "the output"
    say(f"greenroom: cannot write {where}: {error.strerror}", file=sys.stderr)
    return INCOMPLETE
