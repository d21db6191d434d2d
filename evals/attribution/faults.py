"""Cues that show a fault by themselves: no answer, a refusal, a value without a ground. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from evals.attribution.refusals import COURTEOUS_WORDS, denies, is_unable, refusal_in
from evals.attribution.signs import Found, excerpt_of, own_lines
from evals.attribution.turns import Log, Turn
from evals.attribution.values import (
    Known,
    Rows,
    add_rows,
    agrees,
    dates_in,
    first_rows,
    named_values,
    numbers_in,
    words_of,
)

MOST_BARE = 0.34
"""Share of the turns that may bring no figure where a figure is what is expected."""
MOST_CHECKED = 400
"""Values of one log whose calculation is looked for, a few milliseconds each."""


def no_answer(log: Log) -> Iterator[Found]:
    """Find calls that failed or were answered with nothing, unless one below them explains it."""
    replies = [(at, turn) for at, turn in enumerate(log.turns) if turn.is_reply]
    missing = {turn.step_id for _, turn in replies if turn.error is not None or turn.silent}
    answered = {
        (turn.agent, turn.asked)
        for _, turn in replies
        if turn.step_id not in missing and turn.asked
    }
    for at, turn in replies:
        if turn.step_id not in missing or missing & turn.stands_over:
            continue
        repaired = (turn.agent, turn.asked) in answered
        how = "answered with nothing" if turn.silent else "gave no answer"
        again = ", and answered the same request another time" if repaired else ""
        # Where the caller went on with what it had, something later may have mattered more.
        went_on = not turn.silent and _went_on(log, turn)
        yield Found(
            at=at,
            strength=0.3 if repaired else 0.7 if went_on else 1.0,
            reason=f"{turn.agent} {how}{again}.",
            excerpt=None if turn.error is None else excerpt_of(turn.error),
        )
    for at, turn in enumerate(log.turns):
        if turn.kind == "message" and not turn.text.strip() and not turn.plan:
            yield Found(at=at, strength=1.0, reason=f"{turn.agent} says nothing.")


def declined(log: Log) -> Iterator[Found]:
    """Find replies that decline, or say that nothing is known."""
    known: set[float] = set()
    bare = _bare_turns(log)
    for at, turn in enumerate(log.turns):
        numbers = set(numbers_in(turn.text))
        if turn.is_own and turn.kind != "request":
            if log.leader is None:
                short = refusal_in(turn.text, known=known, most_words=COURTEOUS_WORDS)
            else:  # whoever is led reports often, at length, that something was not found
                short = refusal_in(turn.text)
            lines = own_lines(log, at) if turn.is_reply else ()
            line = short or next(filter(is_unable, lines), None)
            if line is not None:
                # Who has values to give declined only a part; an answer to the user without its
                # parts says so because somebody else did not deliver.
                whole = short is not None or (numbers <= known and not dates_in(turn.text))
                yield Found(
                    at=at,
                    strength=0.3 if not whole else 0.7 if turn.kind == "answer" else 1.0,
                    reason=f"{turn.agent} says that it cannot do or does not know something.",
                    excerpt=excerpt_of(line),
                )
            elif at in bare and denies(turn.text):
                yield Found(
                    at=at,
                    strength=0.35,  # a sober "none" may be an answer: only a place to begin
                    reason=f"{turn.agent} gives no figure, as most do, and denies something.",
                    excerpt=excerpt_of(turn.text),
                )
        known |= numbers


def _bare_turns(log: Log) -> set[int]:
    """Return the turns that bring no new figure, if most bring one; none in a chat that one leads."""
    known: set[float] = set(numbers_in(log.task))
    own, bare = 0, set()
    for at, turn in enumerate(log.turns):
        numbers = set(numbers_in(turn.text)) | {
            float(day.toordinal()) for day in dates_in(turn.text)
        }
        if turn.is_own and turn.kind not in ("request", "answer"):
            own += 1
            if turn.text.strip() and numbers <= known:
                bare.add(at)
        known |= numbers
    return bare if log.leader is None and len(bare) <= MOST_BARE * own else set()


def contradicts(log: Log) -> Iterator[Found]:
    """Find turns in which something has another value than its source gave it.

    Sources are the task, the speaker's own tools and what others replied to it.
    """
    given = first_rows(named_values(log.task))
    by_tools: dict[str, Rows] = defaultdict(dict)
    heard: dict[str, Rows] = defaultdict(dict)
    for at, turn in enumerate(log.turns):
        if turn.kind == "tool":
            add_rows(by_tools[turn.agent], named_values(turn.text))
        if not turn.is_own or turn.kind == "message":
            continue
        tools = by_tools[turn.agent]
        for name, value in log.new_rows[at]:
            found = any(agrees(value, each) for each in tools.get(name, ()))
            others = (("its tool", tools), ("who told it", heard[turn.agent]))
            if turn.kind == "request" and not numbers_in(value):
                continue  # what a request is for differs from the one before
            # A figure may be asked for anew; who or what a request is about may not change.
            asked = first_rows(row for row in named_values(turn.asked) if not numbers_in(row[1]))
            sources = (("the request", asked), ("the task", given))
            for source, rows in (*sources, *(() if found else others)):
                known = rows.get(name)
                if known and not any(agrees(value, each) for each in known):
                    yield Found(
                        at=at,
                        strength=1.0,
                        reason=f"{turn.agent} gives {name} as {value}, but {source} "
                        f"says {sorted(known)[0]}.",
                        excerpt=excerpt_of(f"{name}: {value}"),
                    )
                    break
        add_rows(heard[turn.hearer], named_values(turn.text))


def unfounded(log: Log) -> Iterator[Found]:
    """Find values without a ground, where the task gave those to calculate with, as rows.

    Elsewhere members are asked for what they alone know: a new value is what was asked for.
    """
    closed = any(numbers_in(value) for _, value in named_values(log.task))
    for each in _groundless(log):
        if closed:
            yield each


def _groundless(log: Log) -> Iterator[Found]:
    """Find named numbers and dates that nothing said before gives, or lets calculate.

    Sums explain a number less well than products, as many small numbers are one by chance. They do
    not count where the task has a row of a similar name with other numbers.
    """
    right = set(words_of(log.expected or ""))
    rows = [(set(words_of(name)), numbers_in(value)) for name, value in named_values(log.task)]
    known, checked = Known(), 0
    by_tools: Rows = {}
    for at, turn in enumerate(log.turns):
        if turn.kind == "tool":
            add_rows(by_tools, named_values(turn.text))
        if turn.is_own and turn.kind != "message":
            for name, value in log.new_rows[at]:
                similar = any(numbers and words & set(words_of(name)) for words, numbers in rows)
                checked += 1
                if checked > MOST_CHECKED:
                    return
                is_right = set(words_of(value)) <= right
                odd = [] if is_right else known.unexplained(value, sums=not similar)
                if odd:
                    # What a tool is reported to have said, only its user vouches for.
                    looked_up = value in by_tools.get(name, ())
                    source = "but its own tool" if looked_up else ""
                    yield Found(
                        at=at,
                        strength=0.75 if looked_up else 1.0,
                        reason=f"{turn.agent} gives {name} as {odd[0]}, which nobody {source} had "
                        "given and no simple calculation yields.".replace("  ", " "),
                        excerpt=excerpt_of(f"{name}: {value}"),
                    )
                known.learn(value)
        if turn.kind not in ("message", "tool"):
            known.learn(turn.text)


def departure(log: Log) -> Iterator[Found]:
    """Find the step at which the work left the gold path for good."""
    for at, turn in enumerate(log.turns):
        if turn.step_id == log.departed_at and (turn.is_own or turn.kind == "tool"):
            yield Found(
                at=at,
                strength=1.0,
                reason=f"With this step of {turn.agent} the work left the gold path for good.",
                excerpt=excerpt_of(turn.text) or None,
            )
            return


def _went_on(log: Log, failed: Turn) -> bool:
    """Tell whether whoever made a call that failed gave values to those above all the same."""
    above = (turn for turn in log.turns if turn.is_reply and failed.step_id in turn.stands_over)
    nearest = min(above, key=lambda turn: len(turn.stands_over), default=None)
    return nearest is not None and any(True for _ in named_values(nearest.text))
