"""What the reader learns from: written by hand, labelled once, and apart from what it is measured on."""

import json
from pathlib import Path

HERE = Path(__file__).parent
TEXTS = sorted((HERE.parents[2] / "scripts" / "privacy_reader" / "texts").glob("*.txt"))
MEASURES = (
    "attacks_by_claims",
    "attacks_by_situations",
    "attacks_by_wording",
    "attacks_by_purpose",
    "attacks_by_speakers",
    "attacks_by_data",
    "requests_near_attacks",
    "requests_by_others",
)


def lines():
    found = [line for path in TEXTS for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in found if not line.startswith("# ")]


def test_each_text_is_labelled_and_stands_once():
    assert len(TEXTS) == 19
    assert {line[:2] for line in lines()} == {"+ ", "- "}
    words = [line[2:].casefold() for line in lines()]
    assert len(set(words)) == len(words)


def test_half_of_them_are_harmless():
    attacks = sum(line.startswith("+") for line in lines())
    assert abs(attacks / len(lines()) - 0.5) < 0.01


def test_nothing_that_it_is_measured_on_is_learned_from():
    learned = {line[2:].casefold() for line in lines()}
    for name in MEASURES:
        measured = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))["texts"]
        assert not learned.intersection(map(str.casefold, measured)), name
