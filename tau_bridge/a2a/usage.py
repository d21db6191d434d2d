"""Reads the usage that an agent reports of its own language models in A2A metadata. Pure.

A2A has no field for it, so each framework writes its own form. All are told apart by their keys,
whether in camelCase or snake_case, and by the objects that hold them:

    {"adk_usage_metadata": {"promptTokenCount": 9, "candidatesTokenCount": 3}}      google-adk
    {"usage": {"prompt_tokens": 9, "completion_tokens": 3, "cost": 0.0001}}         OpenAI, LiteLLM
    {"usage": {"input_tokens": 9, "output_tokens": 3}}                              Anthropic
    {"gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 3}               OpenTelemetry
    {"llm.token_count.prompt": 9, "llm.token_count.completion": 3}                  OpenInference

The agent wrote every value. One that cannot be right (negative, beyond all bounds, no number) is
left out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from evals.trace import (
    REPORTED_COMPLETION_TOKENS,
    REPORTED_PROMPT_TOKENS,
    REPORTED_USAGE,
    REPORTED_USAGE_IGNORED,
)

Number = TypeVar("Number", int, float)

MAX_TOKENS: Final = 10**12
"""More in one reply is no report."""
MAX_COST: Final = 1e6
"""In US dollars; more for one reply is no report."""


@dataclass(frozen=True, kw_only=True)
class ReportedUsage:
    """The tokens and the cost that an agent reports; None where it reports none.

    Args:
        prompt_tokens: What its models read, cached parts included.
        completion_tokens: What they wrote, thoughts included.
        total_tokens: Both together.
        cost: In US dollars.
        forms: The forms in which it was reported, such as `prompt_tokens`.
        ignored: Values that are no amount, and were left out.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    cost: float | None = None
    forms: tuple[str, ...] = ()
    ignored: int = 0

    @property
    def is_known(self) -> bool:
        """Tell whether there is any amount."""
        amounts = (self.prompt_tokens, self.completion_tokens, self.total_tokens, self.cost)
        return any(amount is not None for amount in amounts)

    def attributes(self) -> dict[str, str]:
        """Return what a step says beside its tokens and cost: that they are reported, and how."""
        parts = {
            REPORTED_PROMPT_TOKENS: self.prompt_tokens,
            REPORTED_COMPLETION_TOKENS: self.completion_tokens,
            REPORTED_USAGE_IGNORED: self.ignored or None,
        }
        told = {name: str(value) for name, value in parts.items() if value is not None}
        return {REPORTED_USAGE: ", ".join(self.forms), **told} if self.is_known else told

    def __add__(self, other: ReportedUsage) -> ReportedUsage:
        """Return both together; an amount that only one of them has is that one's."""
        return ReportedUsage(
            prompt_tokens=_sum((self.prompt_tokens, other.prompt_tokens)),
            completion_tokens=_sum((self.completion_tokens, other.completion_tokens)),
            total_tokens=_sum((self.total_tokens, other.total_tokens)),
            cost=_sum((self.cost, other.cost)),
            forms=tuple(dict.fromkeys((*self.forms, *other.forms))),
            ignored=self.ignored + other.ignored,
        )


@dataclass(frozen=True, kw_only=True)
class _Form:
    """The keys of a form; those of a part add up."""

    name: str
    prompt: tuple[str, ...]
    completion: tuple[str, ...]
    total: str

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.prompt, *self.completion, self.total)


_FORMS: Final = (
    _Form(
        name="prompt_token_count",
        prompt=("prompt_token_count", "tool_use_prompt_token_count"),
        completion=("candidates_token_count", "thoughts_token_count"),
        total="total_token_count",
    ),
    _Form(
        name="input_tokens",
        # Its input tokens are those that the cache did not serve.
        prompt=("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        completion=("output_tokens",),
        total="total_tokens",
    ),
    _Form(
        name="prompt_tokens",
        prompt=("prompt_tokens",),
        completion=("completion_tokens",),
        total="total_tokens",
    ),
    _Form(
        name="gen_ai.usage",
        prompt=("gen_ai.usage.input_tokens",),
        completion=("gen_ai.usage.output_tokens",),
        total="gen_ai.usage.total_tokens",
    ),
    _Form(
        name="gen_ai.usage",
        prompt=("gen_ai.usage.prompt_tokens",),
        completion=("gen_ai.usage.completion_tokens",),
        total="gen_ai.usage.total_tokens",
    ),
    _Form(
        name="llm.token_count",
        prompt=("llm.token_count.prompt",),
        completion=("llm.token_count.completion",),
        total="llm.token_count.total",
    ),
)
_HOLDERS: Final = ("adk_usage_metadata", "usage_metadata", "usage", "token_usage")
"""Keys of objects that hold a form; a form may also stand beside them."""
_COSTS: Final = (
    *("response_cost", "cost_usd", "total_cost_usd"),
    *("gen_ai.usage.cost", "llm.cost.total"),
)
_PLAIN_COSTS: Final = ("cost", "total_cost")
"""The cost of a call only beside its tokens: elsewhere a shop may have written the price of a lamp."""
_ALL_KEYS: Final = frozenset(
    (*_HOLDERS, *_COSTS, *_PLAIN_COSTS, *(key for form in _FORMS for key in form.keys))
)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""The place of camelCase where snake_case has an underscore."""


def is_usage_key(key: str) -> bool:
    """Tell whether a key of metadata may hold a part of a usage."""
    return _snake(key) in _ALL_KEYS


def read_usage(metadata: Mapping[str, Any]) -> ReportedUsage:
    """Return the usage in the metadata of one message, artifact, task or update.

    Several forms describe the same calls: the first that names tokens counts, and the first cost.
    """
    beside = {_snake(key): value for key, value in metadata.items() if value is not None}
    held = [beside[name] for name in _HOLDERS if name in beside]
    objects = [_snake_keys(each) for each in held if isinstance(each, Mapping)]
    ignored = len(held) - len(objects)
    tokens = ReportedUsage()
    for each in (*objects, beside):
        found = _tokens(each)
        ignored += found.ignored
        tokens = found if not tokens.is_known else tokens
    cost: float | None = None
    for each in (*objects, beside):
        plain = _PLAIN_COSTS if each is not beside or tokens.is_known else ()
        for key in (*_COSTS, *plain):
            if each.get(key) is not None and cost is None:
                cost = _amount(each[key], MAX_COST)
                ignored += cost is None
    return ReportedUsage(
        prompt_tokens=tokens.prompt_tokens,
        completion_tokens=tokens.completion_tokens,
        total_tokens=tokens.total_tokens,
        cost=cost,
        forms=tokens.forms if tokens.is_known else () if cost is None else ("cost",),
        ignored=ignored,
    )


def _tokens(given: Mapping[str, Any]) -> ReportedUsage:
    """Read the form whose parts an object has; of a bare total, any form with that key."""
    present = {key for key, value in given.items() if value is not None}
    form = next(
        (form for form in _FORMS if present & {*form.prompt, *form.completion}),
        next((form for form in reversed(_FORMS) if form.total in present), None),
    )
    if form is None:
        return ReportedUsage()
    amounts = {key: _whole(given[key]) for key in form.keys if key in present}
    ignored = sum(amount is None for amount in amounts.values())
    prompt = _part(form.prompt, amounts)
    completion = _part(form.completion, amounts)
    total = amounts.get(form.total)
    if total is not None and total < (prompt or 0) + (completion or 0):
        total, ignored = None, ignored + 1
    if total is None and prompt is not None and completion is not None:
        total = prompt + completion
    return ReportedUsage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=total,
        forms=(form.name,),
        ignored=ignored,
    )


def _part(keys: Iterable[str], amounts: Mapping[str, int | None]) -> int | None:
    """Add up a part of a form; None where it is missing, or a piece of it cannot be right."""
    given = [amounts[key] for key in keys if key in amounts]
    known = [amount for amount in given if amount is not None]
    return sum(known) if given and len(known) == len(given) else None


def _whole(value: object) -> int | None:
    amount = _amount(value, MAX_TOKENS)
    return int(amount) if amount is not None and amount == int(amount) else None


def _amount(value: object, most: float) -> float | None:
    """Return a number from 0 to `most`; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value <= most else None  # not a number is in no order


def _snake_keys(given: Mapping[str, Any]) -> dict[str, Any]:
    return {_snake(key): value for key, value in given.items()}


def _snake(key: str) -> str:
    return key if key.islower() else _HUMP.sub("_", key).lower()


def _sum(values: Iterable[Number | None]) -> Number | None:
    known = [value for value in values if value is not None]
    return sum(known[1:], start=known[0]) if known else None
