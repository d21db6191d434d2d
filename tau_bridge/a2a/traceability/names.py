"""Names for addresses, and addresses without secrets. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from tau_bridge.a2a.address import WELL_KNOWN_CARD_PATH
from tau_bridge.redaction import redact_url

_URL: Final = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s\"'<>\\`]+")


class Aliases:
    """The names of agents by their addresses. Trailing slashes and letter case of hosts are one.

    Some of the addresses are secrets: an agent that knows one may call as another agent. So they
    are also replaced wherever they stand in a text.
    """

    def __init__(
        self, names: Mapping[str, str], redact: Callable[[str], str] | None = None
    ) -> None:
        self._redact = redact
        self._names = {_comparable(url): name for url, name in names.items()}
        longest_first = sorted({url.rstrip("/") for url in names}, key=lambda url: (-len(url), url))
        self._written = {url: self._names[_comparable(url)] for url in longest_first}
        pattern = "|".join(f"{re.escape(url)}(?![\\w.-])" for url in longest_first)
        self._pattern = re.compile(pattern) if pattern else None

    def name(self, url: str) -> str | None:
        """Return the name of the agent at an address; None where it is not known."""
        return self._names.get(_comparable(url)) if self._names else None

    def redacted(self, text: str) -> str:
        """Redact `text` as an observer does. Requests to agents are compared in this form."""
        return text if self._redact is None else self._redact(text)

    def in_text(self, text: str) -> str:
        """Redact `text`, and put names for the known addresses."""
        text = self.redacted(text)
        if self._pattern is None or "://" not in text:
            return text
        return self._pattern.sub(lambda found: self._written[found.group()], text)


def _comparable(url: str) -> str:
    scheme, separator, rest = url.strip().partition("://")
    host, slash, path = rest.partition("/")
    whole = f"{scheme.lower()}{separator}{host.lower()}{slash}{path}"
    return whole.removesuffix(WELL_KNOWN_CARD_PATH).rstrip("/")


def redact_urls(text: str) -> str:
    """Redact every address in a text."""
    if "://" not in text:
        return text
    return _URL.sub(lambda found: redact_url(found.group()), text)
