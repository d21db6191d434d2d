"""Excerpts of the source that a page shows are in the source."""

import pytest

from tests.docs.test_snippets import PAGES, ROOT, blocks_of, name_of

EXCERPT = "an excerpt of "


def excerpts():
    for page in PAGES:
        for block in blocks_of(page):
            reason = block.marker.get("reason", "")
            if reason.startswith(EXCERPT):
                yield pytest.param(
                    ROOT / reason.removeprefix(EXCERPT),
                    block.body,
                    id=f"{name_of(page)}:{block.line}",
                )


@pytest.mark.parametrize(("source", "shown"), list(excerpts()))
def test_an_excerpt_is_what_the_source_says(source, shown):
    assert f"\n{shown}" in source.read_text(encoding="utf-8")
