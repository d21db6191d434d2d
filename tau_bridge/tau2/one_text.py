"""Reads scenarios that are one text, where others have a reason for the call and known facts."""

from __future__ import annotations

import re
from typing import Final

from tau_bridge.tau2.stopping import without_stop_tokens
from tau_bridge.tau2.tasks import Instructions

_QUOTED_OPENING: Final = re.compile(
    r"(?i)\b(?:opening|open (?:by|with)|start (?:naturally|by|with|the)|begin (?:by|with)"
    r'|initial(?:ly)?)\b[^"\n]{0,80}"([^"]+)"'
)
_LAYOUT: Final = re.compile(r"(?m)^[ \t]*#+ .*$|^[ \t]*\d+\. |\*\*[^*\n]{1,80}:\*\*|\*\*")
"""Headings, numbers of lists, labels in bold, and other bold type."""


def read_scenario(text: str) -> tuple[Instructions, str | None]:
    """Return what a user knows and wants, and the words to open with where the text quotes some."""
    quoted = _QUOTED_OPENING.search(text)
    plain = _LAYOUT.sub(" ", text[: quoted.start()] + text[quoted.end() :] if quoted else text)
    if quoted is None:
        return Instructions(reason_for_call=plain), None
    opening = " ".join(without_stop_tokens(quoted[1]).split())
    return Instructions(known_info=plain), opening
