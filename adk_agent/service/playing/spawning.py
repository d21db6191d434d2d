"""spawn: starts the process that plays evaluations. Imports nothing, so that it can come first."""

from __future__ import annotations

import subprocess
import sys

WITH_ADK = "--with-adk"


def spawn(*, with_adk: bool = False) -> subprocess.Popen[bytes]:
    """Start a process that waits for an `Init`; it ends when its standard input is closed.

    Args:
        with_adk: It imports ADK at once, as its first evaluation would.

    Raises:
        OSError: it could not be started.
    """
    command = [sys.executable, "-P", "-m", "adk_agent.service.playing.worker"]
    command += [WITH_ADK] if with_adk else []
    return subprocess.Popen(  # noqa: S603 - our own interpreter, no shell
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,  # Ctrl-C is for the service, which then ends what runs
    )
