"""place_labels: where the labels of a team's picture stand, so that none covers another or an agent.

Widths are estimated from the number of characters, generously, for nobody knows the reader's font.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NAME_CHAR, LABEL_CHAR = 7.6, 7.2
"""Width of a character of an agent's name, and of a label, in pixels."""
LINE_HEIGHT = 14.0
_ALONG = tuple(0.5 + side * step * 0.03 for step in range(13) for side in (-1, 1))
"""Places along a line that are tried in turn, as shares of it: from its middle outwards."""
_DOTS = tuple(number / 12 for number in range(1, 12))
"""Points of a line that stand for it when a label should not cover it."""
_ROUNDS = 4
_GAP_X, _GAP_Y = 6.0, 2.0
Point = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Box:
    """A rectangle of the picture, by its centre."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: Box) -> bool:
        """Tell whether the two cover each other in part."""
        return (
            abs(self.x - other.x) * 2 < self.width + other.width + 2 * _GAP_X
            and abs(self.y - other.y) * 2 < self.height + other.height + 2 * _GAP_Y
        )

    def holds(self, point: Point) -> bool:
        """Tell whether a point is within it."""
        return abs(self.x - point[0]) * 2 < self.width and abs(self.y - point[1]) * 2 < self.height


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line of the picture, bent towards its middle point."""

    begin: Point
    middle: Point
    end: Point

    def at(self, share: float) -> Point:
        """Return the point at a share of the line, 0 to 1."""
        rest = 1 - share
        x, y = (
            rest * rest * a + 2 * rest * share * b + share * share * c
            for a, b, c in zip(self.begin, self.middle, self.end, strict=True)
        )
        return x, y


def text_box(x: float, y: float, lines: Sequence[str], char: float = LABEL_CHAR) -> Box:
    """Return the box of some lines of text whose centre is at x and y."""
    width = max((len(line) for line in lines), default=0) * char
    return Box(x=x, y=y, width=width, height=LINE_HEIGHT * len(lines))


def place_labels(
    curves: Sequence[Curve], texts: Sequence[Sequence[str]], taken: Sequence[Box]
) -> list[Point | None]:
    """Return the centre of each line's label; None where it has no room, or no text.

    Args:
        curves: The lines. They choose in this order; those that find no room choose first in the
            next round.
        texts: The label of each, by its lines.
        taken: What is in the picture already.
    """
    candidates = _candidates(curves, texts)
    order = list(range(len(curves)))
    placed: dict[int, Box | None] = {}
    for _ in range(_ROUNDS):
        placed = _placed(order, candidates, taken)
        failed = [place for place in order if placed[place] is None and texts[place]]
        if not failed:
            break
        order = [*failed, *(place for place in order if place not in failed)]
    found = [placed[place] for place in range(len(curves))]
    return [None if box is None else (box.x, box.y) for box in found]


def _placed(
    order: Sequence[int], candidates: Sequence[Sequence[Box]], taken: Sequence[Box]
) -> dict[int, Box | None]:
    boxes = list(taken)
    placed: dict[int, Box | None] = {}
    for place in order:
        free = next((box for box in candidates[place] if not any(map(box.meets, boxes))), None)
        if free is not None:
            boxes.append(free)
        placed[place] = free
    return placed


def _candidates(curves: Sequence[Curve], texts: Sequence[Sequence[str]]) -> list[list[Box]]:
    """Return the places of each label, best first: on few other lines, and near the middle."""
    dots = [[curve.at(share) for share in _DOTS] for curve in curves]
    return [
        sorted(
            (text_box(*_drawn_at(curve.at(share)), lines) for share in _ALONG) if lines else (),
            key=lambda box, own=place: sum(
                any(map(box.holds, line)) for other, line in enumerate(dots) if other != own
            ),
        )
        for place, (curve, lines) in enumerate(zip(curves, texts, strict=True))
    ]


def _drawn_at(point: Point) -> Point:
    return round(point[0], 1), round(point[1], 1)
