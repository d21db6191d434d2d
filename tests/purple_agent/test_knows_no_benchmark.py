"""Reference agents know no benchmark: nothing of any τ²-bench world or task stands in their sources."""

import json
import os
import re
from pathlib import Path

import pytest

DATA = os.environ.get("TAU2_DATA_DIR")
SOURCES = Path(__file__).parents[2] / "purple_agent"
WORD = re.compile(r"#?[A-Za-z0-9][A-Za-z0-9_-]+")
MIN_CHARACTERS = 5


def is_identifier(word):
    """Whether a word names one thing: it has digits, and letters or many digits."""
    digits = sum(letter.isdigit() for letter in word)
    return len(word) >= MIN_CHARACTERS and digits > 0 and (digits < len(word) or digits >= 6)


def identifiers(text):
    return {word for word in WORD.findall(text) if is_identifier(word)}


def entities(folder):
    """Every identifier in the tasks and the databases below a folder."""
    found = set()
    for path in folder.rglob("*.json"):
        if "tasks" in path.name or "db" in path.name:
            found |= identifiers(json.dumps(json.loads(path.read_bytes()), ensure_ascii=False))
    return found


@pytest.mark.official_data
@pytest.mark.skipif(DATA is None, reason="TAU2_DATA_DIR is not set")
def test_no_entity_of_a_task_or_a_world_stands_in_the_sources():
    known = entities(Path(DATA) / "tau2" / "domains")
    assert len(known) > 10_000
    written = {path: identifiers(path.read_text()) & known for path in SOURCES.rglob("*.py")}
    assert {str(path): sorted(words) for path, words in written.items() if words} == {}


def test_an_entity_would_be_found():
    assert identifiers('if user == "mia_li_3668" or order == "#W2378156" or x == 9523456873:') == {
        "mia_li_3668",
        "#W2378156",
        "9523456873",
    }
    assert identifiers("for step in range(1000): pass") == set()
