"""Model arguments: checks the arguments that a request sets for the user's language model.

A request may not set the address or the key of a call, because the assessor's own key would be sent
there; nor the timeout, the retries or the number of answers, which are the assessor's decision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

_MOST_TOKENS = 1_000_000
_MOST_SEED = 2**63 - 1
_MOST_STOPS = 4
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")


def _number(least: float, most: float) -> Callable[[object], bool]:
    # NaN and the infinities fail every comparison with finite bounds.
    return lambda value: (
        isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
    )


def _whole(least: int, most: int) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    )


def _is_stop(value: object) -> bool:
    texts = value if isinstance(value, list) else [value]
    return 0 < len(texts) <= _MOST_STOPS and all(isinstance(t, str) and t for t in texts)


_TOKENS = (f"a whole number from 1 to {_MOST_TOKENS}", _whole(1, _MOST_TOKENS))
_SHARE = ("a number from 0 to 1", _number(0, 1))
_PENALTY = ("a number from -2 to 2", _number(-2, 2))
_ALLOWED: Mapping[str, tuple[str, Callable[[object], bool]]] = {
    "temperature": ("a number from 0 to 2", _number(0, 2)),
    "top_p": _SHARE,
    "min_p": _SHARE,
    "top_k": _TOKENS,
    "max_tokens": _TOKENS,
    "max_completion_tokens": _TOKENS,
    "presence_penalty": _PENALTY,
    "frequency_penalty": _PENALTY,
    "seed": (f"a whole number from 0 to {_MOST_SEED}", _whole(0, _MOST_SEED)),
    "stop": (f"a text, or a list of up to {_MOST_STOPS} texts", _is_stop),
    "reasoning_effort": (f"one of {', '.join(_EFFORTS)}", lambda value: value in _EFFORTS),
    "drop_params": ("true or false", lambda value: isinstance(value, bool)),
}

EXPECTED: Mapping[str, str] = {name: expected for name, (expected, _) in _ALLOWED.items()}
"""The arguments that may be set, with their allowed values in words."""


def is_allowed(name: str, value: object) -> bool:
    """Tell whether a value is allowed for an argument of `EXPECTED`, by type and range."""
    return _ALLOWED[name][1](value)
