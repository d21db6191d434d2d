"""The calculate tool: values by hand, and the errors that callers are told."""

import pytest

from tau_bridge.tau2.arithmetic import calculate


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 2", "4.0"),
        (" 2 * (3 - 5)", "-4.0"),
        ("10 / 3", "3.33"),
        ("7 // 2 + 2 ** 3", "11.0"),
        ("-(1.5 + 1)", "-2.5"),
        ("--1", "1.0"),
        ("2 ** -1", "0.5"),
        ("0.1 + 0.2", "0.3"),
        ("+".join(["1"] * 600), "600.0"),
    ],
)
def test_an_expression_gives_its_value_rounded_to_two_decimals(expression, value):
    assert calculate(expression) == value


@pytest.mark.parametrize(
    ("expression", "error", "text"),
    [
        ("__import__('os')", ValueError, "^Invalid characters in expression$"),
        ("1e9", ValueError, "^Invalid characters in expression$"),
        ("2 +", SyntaxError, r"^invalid syntax \(<string>, line 1\)$"),
        ("1 / 0", ZeroDivisionError, "^division by zero$"),
        ("2(3)", TypeError, "^'int' object is not callable$"),
        ("2.5(3)", TypeError, "^'float' object is not callable$"),
        ("()", TypeError, "not 'tuple'$"),
        ("...", TypeError, "not 'ellipsis'$"),
        ("(-8) ** 0.5", TypeError, "not 'complex'$"),
        ("9 ** 9 ** 9", ValueError, "too large"),
        ("2 ** 2000", OverflowError, "too large"),
    ],
)
def test_an_expression_without_a_value_is_an_error(expression, error, text):
    with pytest.raises(error, match=text):
        calculate(expression)
