"""Counts the matches of an agent's regular expression, without being stopped by it.

Python's `re` can take for ever over a pattern such as `(a+)+$`, and nothing interrupts it. Patterns
that may are counted in a process of their own, which is ended when the time is over.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from tau_bridge.errors import HarnessError

TIMEOUT_S: Final = 10.0
_PROGRAM: Final = """
import json, re, sys
pattern, texts = json.load(sys.stdin)
compiled = re.compile(pattern, re.IGNORECASE)
json.dump([len(compiled.findall(text)) for text in texts], sys.stdout)
"""
# At most one repeat of a single character in each alternative, and no groups.
_QUICK: Final = re.compile(r"[^*+?(){}\[\]|]*(?:[*+?][^*+?(){}\[\]|]*)?")


def count_matches(pattern: str, texts: Sequence[str]) -> list[int]:
    """Return how often a pattern matches each text, whatever the case of its letters.

    What is no regular expression is looked for as it is.

    Raises:
        TimeoutError: It took longer than `TIMEOUT_S`.
        HarnessError: The process that counts broke.
    """
    try:
        compiled = re.compile(pattern, re.IGNORECASE)
    except re.error:
        compiled = re.compile(re.escape(pattern), re.IGNORECASE)
    else:
        if not is_quick(pattern):
            return _counted_apart(pattern, texts)
    return [len(compiled.findall(text)) for text in texts]


def is_quick(pattern: str) -> bool:
    """Tell whether a pattern surely takes little time, since it cannot go back and forth."""
    alternatives = pattern.replace("\\", "").split("|")
    # Of all classes of characters, only what is no digit goes on over a whole document.
    short = len(pattern) <= 1000 and r"\D" not in pattern
    return short and all(map(_QUICK.fullmatch, alternatives))


def _counted_apart(pattern: str, texts: Sequence[str]) -> list[int]:
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=json.dumps([pattern, list(texts)]),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(
            f"the pattern took longer than {TIMEOUT_S:g} s; write a simpler one"
        ) from None
    except (OSError, subprocess.CalledProcessError) as error:
        raise HarnessError(f"the process that searches documents broke: {error}") from error
    counts: list[int] = json.loads(done.stdout)
    return counts
