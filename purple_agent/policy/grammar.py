"""The lark grammar of conditions, imported when the first condition is read.

`purple_agent.policy.language` describes the syntax.
"""

from __future__ import annotations

import functools
import re
from decimal import Decimal
from typing import Any

from lark import Lark, Token, Transformer, v_args

from purple_agent.policy.syntax import (
    MAX_DEPTH,
    MAX_NODES,
    Comparison,
    ConditionError,
    Constant,
    Junction,
    Name,
    Node,
    Not,
)

MAX_DIGITS = 60

GRAMMAR = r"""
start: any
?any: all ("||" all)*
?all: comparison ("&&" comparison)*
?comparison: negation [OPERATOR negation]
?negation: "!" negation -> opposite
         | operand
?operand: "true" -> true
        | "false" -> false
        | "null" -> null
        | NUMBER -> number
        | TEXT -> text
        | PATH -> path
        | "(" any ")"

OPERATOR: "===" | "!==" | "==" | "!=" | ">=" | "<=" | ">" | "<"
NUMBER: /-?[0-9]+(\.[0-9]+)?(?![\w.])/
TEXT: /'([^'\\\n]|\\.)*'|"([^"\\\n]|\\.)*"/
PATH: /[^\W\d]\w*(\.[^\W\d]\w*)*/
%ignore /[ \t\r\n]+/
"""

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "/": "/"}


@functools.cache
def parser() -> Lark:
    """Build the parser, which takes about ten milliseconds."""
    return Lark(GRAMMAR, parser="lalr", transformer=_Builder(), maybe_placeholders=False)


class _Builder(Transformer[Any, Node]):
    """Builds the tree during parsing, so that deep nesting needs no recursion."""

    @v_args(inline=True)
    def start(self, root: Node) -> Node:
        return _asked_for_truth(root)

    def any(self, operands: list[Node]) -> Node:
        return _junction(operands, decisive=True)

    def all(self, operands: list[Node]) -> Node:
        return _junction(operands, decisive=False)

    @v_args(inline=True)
    def comparison(self, left: Node, sign: Token | None = None, right: Any = None) -> Node:
        if sign is None:
            return left
        return _measured(Comparison(str(sign), left, right))

    @v_args(inline=True)
    def opposite(self, operand: Node) -> Node:
        return _measured(Not(_asked_for_truth(operand)))

    def true(self, _: list[Any]) -> Node:
        return Constant(True)

    def false(self, _: list[Any]) -> Node:
        return Constant(False)

    def null(self, _: list[Any]) -> Node:
        return Constant(None)

    @v_args(inline=True)
    def number(self, token: Token) -> Node:
        if len(token) > MAX_DIGITS:
            raise ConditionError(f"has a number of more than {MAX_DIGITS} digits")
        return Constant(Decimal(token))

    @v_args(inline=True)
    def text(self, token: Token) -> Node:
        return Constant(_ESCAPE.sub(_unescaped, token[1:-1]))

    @v_args(inline=True)
    def path(self, token: Token) -> Node:
        return Name(tuple(token.split(".")))


def _junction(operands: list[Node], *, decisive: bool) -> Node:
    return _measured(Junction(decisive, tuple(_asked_for_truth(each) for each in operands)))


def _asked_for_truth(node: Node) -> Node:
    """Return a node that can be true or false; refuse numbers, texts and null."""
    if isinstance(node, Constant) and not isinstance(node.constant, bool):
        raise ConditionError("has a number, a text or null where true or false is expected")
    return node


def _measured(node: Node) -> Node:
    if node.depth > MAX_DEPTH:
        raise ConditionError(f"is nested deeper than {MAX_DEPTH}")
    if node.nodes > MAX_NODES:
        raise ConditionError(f"has more than {MAX_NODES} parts")
    return node


def _unescaped(escape: re.Match[str]) -> str:
    sign = escape.group(1)
    if len(sign) == 5:  # u and four hexadecimal digits
        return chr(int(sign[1:], 16))
    if sign not in _ESCAPED:
        raise ConditionError(f"has the unknown escape {escape.group()!r}")
    return _ESCAPED[sign]
