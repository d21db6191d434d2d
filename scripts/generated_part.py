"""A page of the documentation of which one part, between two marks, is made by a script."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs"


class PageError(Exception):
    """The page has no place for what is made, or something to be told is missing."""


@dataclass(frozen=True)
class GeneratedPart:
    """The part of the page `name` that `script` makes by `make`."""

    name: str
    script: str
    make: Callable[[], str]

    @property
    def begin(self) -> str:
        """The line before it."""
        return f"<!-- made by scripts/{self.script}: begin -->"

    @property
    def end(self) -> str:
        """The line behind it."""
        return f"<!-- made by scripts/{self.script}: end -->"

    def within(self, page: str) -> str:
        """Return the page with the part as it is now.

        Raises:
            PageError: it does not have the two marks, once each and in order.
        """
        head, begin, rest = page.partition(self.begin)
        _, end, tail = rest.partition(self.end)
        if not begin or not end or self.begin in rest or self.end in tail:
            msg = f"needs the lines {self.begin!r} and {self.end!r}, once each and in this order"
            raise PageError(f"the page {msg}")
        return f"{head}{self.begin}\n\n{self.make()}\n\n{self.end}{tail}"

    def rewrite(self) -> int:
        """Rewrite the page where it differs; returns the exit code."""
        path = DOCS / self.name
        before = path.read_text(encoding="utf-8")
        try:
            after = self.within(before)
        except PageError as error:
            print(f"{self.name}: {error}", file=sys.stderr)
            return 1
        if after != before:
            path.write_text(after, encoding="utf-8")
        print(f"{self.name}: {'unchanged' if after == before else 'written'}")
        return 0
