"""The repairs of an agent's replies in words."""

import re
from pathlib import Path

from adk_agent.present.page.repairs import repair_sentences

AGENTS = Path(__file__).parents[4] / "docs" / "agents.md"


def test_each_kind_has_a_sentence_with_its_number_and_the_most_frequent_comes_first():
    assert repair_sentences({"fenced": 1, "plain_text": 3}) == [
        "In 3 replies: it held no call, and was said to the user as it stood (plain_text).",
        "In 1 reply: the call was taken out of a fenced block (fenced).",
    ]
    assert repair_sentences({}) == []


def test_a_kind_of_a_later_version_is_named():
    assert repair_sentences({"rotated": 2}) == ["In 2 replies: rotated."]


def test_every_repair_of_the_documentation_has_a_sentence():
    table = AGENTS.read_text().partition("| repair | the reply |")[2].partition("\n\n")[0]
    kinds = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert len(kinds) == 19
    assert all(f"({kind})." in repair_sentences({kind: 1})[0] for kind in kinds)
