"""Conditions as trees, and their three-valued truth over known facts.

- A path without a value is unknown, not false. Unknown operands propagate through `!`, `&&` and
  `||` as in Kleene's logic, so a condition is decided as soon as its known parts decide it.
- Only true and false have a truth value. Anything else (a number, a text, null) is unknown, because
  its meaning would be a guess.
- `===` is true for equal values of the same type and false for different types. `==` also treats a
  text with a decimal number as that number. `!==` and `!=` are their opposites. Two lists or two
  objects are not compared: unknown.
- `<`, `<=`, `>` and `>=` compare only numbers; with anything else they are unknown.
- Numbers are decimals: 0.1 as a fact equals 0.1 in a condition. NaN and infinity are unknown.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

MAX_DEPTH = 50
MAX_NODES = 500

Path = tuple[str, ...]
LookUp = Callable[[Path], Any]
"""Returns the value of a path, or `MISSING`."""


class ConditionError(ValueError):
    """A condition cannot be parsed. The message says where, and quotes only a few characters.

    It completes a sentence that starts with "a condition that".
    """


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()

_DECIMAL = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?")


def find(values: Any, path: Path) -> Any:
    """Return the value of a path through objects, or `MISSING`."""
    for name in path:
        if not isinstance(values, Mapping) or name not in values:
            return MISSING
        values = values[name]
    return values


@dataclass(frozen=True)
class Finding:
    """The truth of a condition, None if unknown, and the paths that leave it unknown."""

    truth: bool | None
    undecided: frozenset[str] = frozenset()


TRUE = Finding(truth=True)
FALSE = Finding(truth=False)


class Node:
    """A part of a condition."""

    depth: int
    nodes: int

    def value(self, look_up: LookUp) -> tuple[Any, frozenset[str]]:
        """Return the value, `MISSING` if unknown, and the paths that it was read from."""
        finding = self.judge(look_up)
        return (MISSING if finding.truth is None else finding.truth), finding.undecided

    def judge(self, look_up: LookUp) -> Finding:
        """Return the truth value. Never raises."""
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Node):
    """A number, a text, true, false or null."""

    constant: Decimal | str | bool | None
    depth: int = field(default=1, init=False)
    nodes: int = field(default=1, init=False)

    def value(self, look_up: LookUp) -> tuple[Any, frozenset[str]]:  # noqa: ARG002 - a constant
        """Return the constant itself."""
        return self.constant, frozenset()

    def judge(self, look_up: LookUp) -> Finding:
        """Return the truth of true and false; everything else is unknown."""
        return _truth_of(*self.value(look_up))


@dataclass(frozen=True)
class Name(Node):
    """A dotted path."""

    path: Path
    depth: int = field(default=1, init=False)
    nodes: int = field(default=1, init=False)

    def value(self, look_up: LookUp) -> tuple[Any, frozenset[str]]:
        """Return the value of the path."""
        return look_up(self.path), frozenset((".".join(self.path),))

    def judge(self, look_up: LookUp) -> Finding:
        """Return the truth of the path's value."""
        return _truth_of(*self.value(look_up))


@dataclass(frozen=True)
class Not(Node):
    """The negation; unknown stays unknown."""

    operand: Node
    depth: int = field(init=False)
    nodes: int = field(init=False)

    def __post_init__(self) -> None:
        _measure(self, self.operand)

    def judge(self, look_up: LookUp) -> Finding:
        """Return the negation of the operand."""
        finding = self.operand.judge(look_up)
        if finding.truth is None:
            return finding
        return FALSE if finding.truth else TRUE


@dataclass(frozen=True)
class Junction(Node):
    """`&&` (decided by one false operand) or `||` (decided by one true operand)."""

    decisive: bool
    """The truth of an operand that decides: False for `&&`, True for `||`."""
    operands: tuple[Node, ...]
    depth: int = field(init=False)
    nodes: int = field(init=False)

    def __post_init__(self) -> None:
        _measure(self, *self.operands)

    def judge(self, look_up: LookUp) -> Finding:
        """Judge the operands; unknown if one is unknown and no other decides."""
        undecided: frozenset[str] = frozenset()
        open_ = False
        for operand in self.operands:
            finding = operand.judge(look_up)
            if finding.truth is self.decisive:
                return TRUE if self.decisive else FALSE
            if finding.truth is None:
                open_ = True
                undecided |= finding.undecided
        if open_:
            return Finding(truth=None, undecided=undecided)
        return FALSE if self.decisive else TRUE


_ORDER: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Comparison(Node):
    """Two values and one of `=== !== == != < <= > >=`."""

    operator: str
    left: Node
    right: Node
    depth: int = field(init=False)
    nodes: int = field(init=False)

    def __post_init__(self) -> None:
        _measure(self, self.left, self.right)

    def judge(self, look_up: LookUp) -> Finding:
        """Compare the two values."""
        left, left_paths = self.left.value(look_up)
        right, right_paths = self.right.value(look_up)
        truth = self._compare(left, right)
        if truth is None:
            return Finding(truth=None, undecided=left_paths | right_paths)
        return TRUE if truth else FALSE

    def _compare(self, left: Any, right: Any) -> bool | None:
        if left is MISSING or right is MISSING:
            return None
        if self.operator in _ORDER:
            low, high = _number(left), _number(right)
            return None if low is None or high is None else _ORDER[self.operator](low, high)
        equal = _equal(left, right, loosely=len(self.operator) == 2)
        if equal is None:
            return None
        return equal is not self.operator.startswith("!")


@dataclass(frozen=True)
class Condition:
    """A condition as text and as a tree."""

    text: str
    root: Node

    def judge(self, look_up: LookUp) -> Finding:
        """Tell whether it holds. Never raises."""
        return self.root.judge(look_up)


TRUE_CONDITION = Condition("true", Constant(True))


def _measure(node: Not | Junction | Comparison, *parts: Node) -> None:
    """Record the depth and the size of a node."""
    object.__setattr__(node, "depth", 1 + max(part.depth for part in parts))
    object.__setattr__(node, "nodes", 1 + sum(part.nodes for part in parts))


def _truth_of(value: Any, paths: frozenset[str]) -> Finding:
    if value is True:
        return TRUE
    if value is False:
        return FALSE
    return Finding(truth=None, undecided=paths)


def _number(value: Any) -> Decimal | None:
    """Return a number as a decimal; None for NaN, infinity and anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return value if value.is_finite() else None
    return None


def _equal(left: Any, right: Any, *, loosely: bool) -> bool | None:
    """Tell whether two values are equal; None if that is undecided."""
    kind, other = _kind(left), _kind(right)
    if "opaque" in (kind, other):
        return None
    if loosely and {kind, other} == {"number", "text"}:
        left, right = _read_number(left), _read_number(right)
        return left is not None and right is not None and bool(left == right)
    if kind != other:
        return False
    if kind in ("list", "object"):
        return None
    if kind == "number":
        return _number(left) == _number(right)
    return bool(left == right)


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, str):
        return "text"
    if isinstance(value, Mapping):
        return "object"
    if isinstance(value, list | tuple):
        return "list"
    return "opaque" if _number(value) is None else "number"


def _read_number(value: Any) -> Decimal | None:
    if isinstance(value, str):
        text = value.strip()
        return Decimal(text) if _DECIMAL.fullmatch(text) else None
    return _number(value)
