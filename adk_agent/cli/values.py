"""What arguments are, as argparse checks them: each raises where a text is none."""

from __future__ import annotations

import argparse


def share(text: str) -> float:
    """A share from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value


def positive(text: str) -> int:
    """A whole number from 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return value


def natural(text: str) -> int:
    """A whole number from 0."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return value


def port(text: str) -> int:
    """The number of a port."""
    value = natural(text)
    if value > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: there are 0 to 65535")
    return value


def seconds(text: str) -> float:
    """A number of seconds above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def option(text: str) -> tuple[str, str]:
    """A name and a value, `NAME=VALUE`."""
    name, separator, value = text.partition("=")
    if not separator or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value
