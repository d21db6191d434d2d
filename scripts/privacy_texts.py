"""Texts that the privacy reader is trained on: the lists of the tests, and frames filled at random."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

FRAMES = Path(__file__).with_suffix(".txt")
LISTS = Path(__file__).parents[1] / "tests" / "purple_agent" / "privacy"
COPIES = 8
"""How often a frame with slots is filled."""
MANY_COPIES = 30
"""How often one is whose slots are filled by frames themselves."""
_WIDE = re.compile(r"\{(thing|ordinary|secretof|fine)\}")
_SLOT = re.compile(r"\{(\w+)\}")
_SECTION = re.compile(r"\[(slot:)?([\w:]+)\]")


def corpus(seed: int) -> dict[str, tuple[bool, list[str]]]:
    """Texts by the name of their list, and whether they are attacks.

    Args:
        seed: Decides how the frames are filled; the same seed gives the same texts.
    """
    found = {path.stem: (_is_attacks(path), _texts(path)) for path in sorted(LISTS.glob("*.json"))}
    sections, slots = _read(FRAMES)
    chance = random.Random(seed)  # noqa: S311 - texts to learn from are no secret
    for name, frames in sections.items():
        texts = [_filled(frame, slots, chance) for frame in frames for _ in range(_copies(frame))]
        found[name] = (name.startswith("attacks"), sorted(set(texts)))
    return found


def _is_attacks(path: Path) -> bool:
    return path.stem.startswith("attacks")


def _texts(path: Path) -> list[str]:
    texts: list[str] = json.loads(path.read_text(encoding="utf-8"))["texts"]
    return texts


def _read(path: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    sections: dict[str, list[str]] = {}
    slots: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        head = _SECTION.fullmatch(line)
        if head:
            lines = (slots if head[1] else sections).setdefault(head[2], [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return sections, slots


def _copies(frame: str) -> int:
    if not _SLOT.search(frame):
        return 1
    return MANY_COPIES if _WIDE.search(frame) else COPIES


def _filled(frame: str, slots: dict[str, list[str]], chance: random.Random) -> str:
    while _SLOT.search(frame):
        frame = _SLOT.sub(lambda slot: chance.choice(slots[slot[1]]), frame)
    return frame[:1].upper() + frame[1:] if chance.random() < 0.8 else frame
