"""harmless: text from outside as markdown may show it."""

from __future__ import annotations

import re

from adk_agent.core.printable import printable

_TAG = re.compile(r"<(?=[a-zA-Z/!?])")


def harmless(text: str) -> str:
    """The text with its tags, images and links shown rather than rendered, and no control codes.

    Whoever renders prose fetches the images that it names: an agent whose error names one would
    learn who reads the report, and when. What is harmless already comes back as it is.
    """
    shown = _TAG.sub("&lt;", printable(text))
    return shown.replace("![", "!\\[").replace("](", "]\\(")
