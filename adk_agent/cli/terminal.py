"""The one place through which the command line prints.

Names, reasons and replies come from agents, files and models, and a terminal would obey control
sequences in them. So `say` shows those as escapes; `write_data` writes what programs read.
"""

from __future__ import annotations

import sys
from typing import TextIO

from adk_agent.core.escaping import escape_controls


def say(text: object, *, file: TextIO | None = None, end: str = "\n", flush: bool = False) -> None:
    """Print text for a person, with control characters as escapes."""
    print(escape_controls(str(text)), file=file, end=end, flush=flush)


def write_data(text: str, *, end: str = "\n", flush: bool = False) -> None:
    """Write data for a program, such as JSON, as it is; it gets a line's end if it has none."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}{end}")
    if flush:
        sys.stdout.flush()
