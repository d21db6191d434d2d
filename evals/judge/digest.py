"""Digest: a trace within a budget, for a model to read. Deterministic, and it says what was cut.

One line of JSON for each step, in the order of start times. Texts are quoted (`quoting`), those
that are too long shortened to their beginning and end; where that does not suffice, steps are left
out, those in the middle first. Steps that are evidence of a finding, and the first that failed,
are kept before others.

Tokens are counted as bytes of UTF-8. No tokenizer that works on bytes makes more of a text; usual
ones make about a third or a quarter as many.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import JsonValue

from evals.judge.quoting import quoted, shown_id
from evals.trace import InteractionStep, Provenance, Trace

TEXT_LIMITS = (2000, 800, 300, 120)
"""Characters that are kept of a text: the first of these at which all steps fit, else the last."""
NAME_LIMIT = 60
MIN_ROW_BYTES = 48
"""No line of a step is shorter, so that a budget bounds how many are looked at."""
GAP_BYTES = 32
"""Room for the line `{"steps_left_out":...}`."""
FAILED_STEPS_FIRST = 40
"""Number of failed steps that are kept before others."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def tokens_of(text: str) -> int:
    """Return at least as many tokens as any tokenizer on bytes makes of `text`."""
    return len(text.encode())


@dataclass(frozen=True, kw_only=True)
class Digest:
    """A trace as a model sees it, and what of it was cut."""

    text: str
    tokens: int
    """Never more than the budget."""
    steps: int
    """The number of steps of the whole trace."""
    left_out: int
    texts_shortened: int
    step_ids: frozenset[str]
    """The ids that are shown; a judge may cite these."""

    def facts(self) -> dict[str, JsonValue]:
        """Return the figures, for the result."""
        return {
            "tokens": self.tokens,
            "steps": self.steps,
            "left_out": self.left_out,
            "texts_shortened": self.texts_shortened,
        }


@dataclass(frozen=True, slots=True)
class _Row:
    text: str
    shortened: int
    """Number of its texts that were shortened."""

    @property
    def tokens(self) -> int:
        return tokens_of(self.text) + 1


def digest_of(
    trace: Trace, *, token_budget: int, evidence: Mapping[str, tuple[str, ...]] | None = None
) -> Digest:
    """Write the digest of a trace.

    Args:
        trace: Any number of steps, texts of any length.
        token_budget: The most that the digest may have, in tokens as `tokens_of` counts them.
        evidence: For each step id, the findings that it shows; said in its line.

    Raises:
        ValueError: the budget is too small for the digest's first line.
    """
    steps = _in_order(trace.steps)
    marks = evidence or {}
    total = len(steps)
    # Counts of full length stand in for those that are known only in the end.
    room = token_budget - tokens_of(_first_line(total, total, total * 3)) - 1
    if room < 0:
        raise ValueError(f"a budget of {token_budget} tokens has no room for a digest's first line")
    ranked = _ranked(steps, marks, most=room // MIN_ROW_BYTES)
    rows = _rows(steps, ranked, marks, room)
    shortened = sum(row.shortened for row in rows.values())
    lines = [_first_line(total, total - len(rows), shortened), *_lines(rows, total)]
    text = "\n".join(lines)
    return Digest(
        text=text,
        tokens=tokens_of(text),
        steps=total,
        left_out=total - len(rows),
        texts_shortened=shortened,
        step_ids=frozenset(shown_id(steps[at].step_id) for at in rows),
    )


def _first_line(steps: int, left_out: int, shortened: int) -> str:
    facts: dict[str, JsonValue] = {
        "steps": steps,
        "steps_left_out": left_out,
        "texts_shortened": shortened,
    }
    return quoted(facts)


def _in_order(steps: Sequence[InteractionStep]) -> list[InteractionStep]:
    """Order the steps by start; a step without one keeps its place behind the step before it."""
    before = _EPOCH
    starts = []
    for step in steps:
        before = step.start_time or before
        starts.append(before)
    order = sorted(range(len(steps)), key=lambda at: (starts[at], at))
    return [steps[at] for at in order]


def _ranked(
    steps: Sequence[InteractionStep], evidence: Mapping[str, tuple[str, ...]], *, most: int
) -> list[int]:
    """Return the places of the steps to show, the most wanted first."""
    failed = [at for at, step in enumerate(steps) if step.error is not None]
    wanted = {at for at, step in enumerate(steps) if step.step_id in evidence}
    wanted.update(failed[:FAILED_STEPS_FIRST])
    last = len(steps) - 1

    def rank(at: int) -> tuple[bool, int, int]:
        return at not in wanted, min(at, last - at), at

    return heapq.nsmallest(most, range(len(steps)), key=rank)


def _rows(
    steps: Sequence[InteractionStep],
    ranked: Sequence[int],
    evidence: Mapping[str, tuple[str, ...]],
    room: int,
) -> dict[int, _Row]:
    """Return the lines that fit, by place: all at the highest possible limit, else some."""
    known = {step.step_id for step in steps}
    began = min((s.start_time for s in steps if s.start_time is not None), default=None)
    rows: dict[int, _Row] = {}
    for limit in TEXT_LIMITS:
        rows = {at: _row(steps[at], limit, known, began, evidence) for at in ranked}
        if len(ranked) == len(steps) and sum(row.tokens for row in rows.values()) <= room:
            return rows
    kept: dict[int, _Row] = {}
    room -= GAP_BYTES
    for at in ranked:
        cost = rows[at].tokens + GAP_BYTES
        if cost <= room:
            kept[at] = rows[at]
            room -= cost
    return kept


def _lines(rows: Mapping[int, _Row], total: int) -> Iterator[str]:
    """Yield the rows in order, with a line wherever some are left out."""
    following = 0
    for at in sorted(rows):
        if at > following:
            yield quoted({"steps_left_out": at - following})
        yield rows[at].text
        following = at + 1
    if rows and following < total:
        yield quoted({"steps_left_out": total - following})


def _row(
    step: InteractionStep,
    limit: int,
    known: set[str],
    began: datetime | None,
    evidence: Mapping[str, tuple[str, ...]],
) -> _Row:
    row: dict[str, JsonValue] = {
        "id": shown_id(step.step_id),
        "kind": step.call_type.value,
        "caller": _clipped(step.caller, NAME_LIMIT),
        "callee": _clipped(step.callee, NAME_LIMIT),
    }
    if step.name is not None and step.name != step.callee:
        row["name"] = _clipped(step.name, NAME_LIMIT)
    if step.parent_step_id in known:
        row["parent"] = shown_id(step.parent_step_id)
    if step.from_outside:
        row["from"] = "outside the team"
    row.update(_times(step, began))
    if step.provenance is Provenance.REPORTED:
        row["seen"] = "reported by a participant only"
    if step.step_id in evidence:
        row["evidence_of"] = list(evidence[step.step_id])
    texts = {"error": step.error, "request": step.request_text, "response": step.response_text}
    for key, text in texts.items():
        if text is not None:
            row[key] = _clipped(text, limit)
    shortened = sum(isinstance(row.get(key), dict) for key in texts)
    return _Row(text=quoted(row), shortened=shortened)


def _times(step: InteractionStep, began: datetime | None) -> dict[str, JsonValue]:
    times: dict[str, JsonValue] = {}
    if step.start_time is not None and began is not None:
        times["start_s"] = round((step.start_time - began).total_seconds(), 3)
    if step.latency_ms is not None:
        times["took_ms"] = round(step.latency_ms, 3)
    elif step.start_time is not None and step.end_time is not None:
        times["took_ms"] = round((step.end_time - step.start_time).total_seconds() * 1000, 3)
    return times


def _clipped(text: str, limit: int) -> JsonValue:
    """Return `text`, or its two ends as an object, which no text can pretend to be."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return {
        "begins": text[: limit - tail],
        "ends": text[-tail:],
        "characters_cut": len(text) - limit,
    }
