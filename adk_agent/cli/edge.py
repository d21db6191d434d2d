"""The outer edge of the command line: errors become a message and an exit code."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable

from adk_agent.errors import GreenroomError
from tau_bridge.errors import BridgeError, DataError

OK, GATE_FAILED, USAGE, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130

logger = logging.getLogger(__name__)


def run_command(execute: Callable[[argparse.Namespace], int], parsed: argparse.Namespace) -> int:
    """The exit code of a command. Known errors are one message on stderr, without a traceback."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    try:
        return execute(parsed)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # a reader such as head has seen enough; Python would complain at exit
        return OK
    except DataError as error:
        return _complain(error, USAGE)
    except GreenroomError as error:
        return _complain(error, error.exit_code)
    except BridgeError as error:
        return _complain(error, INCOMPLETE)


def _complain(error: Exception, code: int) -> int:
    print(f"greenroom: {error}", file=sys.stderr)
    return code
