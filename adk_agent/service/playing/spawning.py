"""spawn: starts the process that plays evaluations. Imports nothing, so that it can come first."""

from __future__ import annotations

import subprocess
import sys


def spawn() -> subprocess.Popen[bytes]:
    """A process that waits for a `Hello`; it ends when nobody holds its standard input any more.

    Raises:
        OSError: it could not be started.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "adk_agent.service.playing.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,  # Ctrl-C is for the service, which then ends what runs
    )
