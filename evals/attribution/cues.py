"""Cues: signs in a log that an agent, at one step, brought in what was wrong. Pure.

Each function yields the places of turns with the strength of the sign, 0 to 1, and its words. How
much each counts stands in `CUES` alone.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from evals.attribution.model import Cue
from evals.attribution.turns import Log, Turn
from evals.attribution.values import (
    Known,
    agrees,
    Rows,
    add_rows,
    first_rows,
    marked_values,
    named_values,
    numbers_in,
    words_of,
)

_INABILITY = re.compile(
    r"\b(?:can ?not|can['’]t|could not|couldn['’]t|unable to|not able to|won['’]t|will not|"
    r"refus(?:e|es|ing) to|declin(?:e|es|ing) to|must (?:decline|refuse)|rather not|denied|"
    r"do(?:es)? not have access|don['’]t have access|no answer|outside (?:my|our)|not my job|"
    r"not (?:possible|allowed|permitted|available|found)|sorry|I (?:don['’]t|do not) know)\b",
    re.IGNORECASE,
)
_ROUTINE = re.compile(r"\W*(?:nothing|none|no change)", re.IGNORECASE)
_INVENTED = re.compile(
    r"\b(?:assum\w+|hypothetical\w*|placeholder\w*|mock\w*|simulat\w+|dummy|made[- ]up|"
    r"for (?:the sake of|demonstration|illustration)|example data|estimated?|approximate\w*|"
    r"let['’]s say|suppose)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"```[a-z]*\n", re.IGNORECASE)
_RUN_FAILED = re.compile(r"exit ?code: [1-9]|\bTraceback \(most recent|execution failed", re.I)
_STOP_WORDS = frozenset(
    "a an and are as at be been by can could did do does for from had has have how i if in into is it "
    "its may of on or our should so that the their them then there these they this to was we were "
    "what when where which who whose why will with would you your".split()
)
_FINAL = re.compile(r"final answer\W{1,3}\s*(.+)", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*")
MOST_WORDS = 40
"""Words of an answer; who first gave a longer one is not looked for."""
MOST_CHECKED = 400
"""Values of one log whose calculation is looked for, a few milliseconds each."""
PLAN_GAP = 0.8
"""Share of the question's words that a plan may leave out before that is a sign."""
_EXCERPT = 160


@dataclass(frozen=True, kw_only=True)
class Found:
    """A sign at one turn."""

    at: int
    strength: float
    reason: str
    excerpt: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Cue:
    find: Callable[[Log], Iterator[Found]]
    weight: float


def no_answer(log: Log) -> Iterator[Found]:
    """Calls that failed or were answered with nothing, unless one below them explains it."""
    replies = [(at, turn) for at, turn in enumerate(log.turns) if turn.is_reply]
    missing = {turn.step_id for _, turn in replies if turn.error is not None or turn.silent}
    answered = {
        (turn.agent, turn.asked) for _, turn in replies if turn.step_id not in missing and turn.asked
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
            excerpt=None if turn.error is None else _excerpt(turn.error),
        )


def declined(log: Log) -> Iterator[Found]:
    """Replies whose own words decline, and those without a value where most others have some."""
    replies = [(at, turn) for at, turn in enumerate(log.turns) if turn.is_reply and turn.text.strip()]
    empty = {at for at, turn in replies if turn.kind == "reply" and not any(named_values(turn.text))}
    for at, turn in replies:
        line = next(filter(_INABILITY.search, _own_lines(log, at)), None)
        if line is not None:
            # Who has values to give declined only a part; an answer to the user without its parts
            # says so because somebody else did not deliver.
            strength = 1.0 if at in empty else 0.3
            reason = f"{turn.agent} says that it cannot do or does not know something."
        elif at in empty and 2 * len(empty) < len(replies) and not _ROUTINE.match(turn.text):
            strength = 0.75
            reason = f"{turn.agent} gives no value, where {len(replies) - len(empty)} of "
            reason += f"{len(replies)} replies give some."
        else:
            continue
        yield Found(at=at, strength=strength, reason=reason, excerpt=_excerpt(line or turn.text))


def unsure(log: Log) -> Iterator[Found]:
    """Messages of a chat that say that something cannot be done or is not known."""
    for at, turn in enumerate(log.turns):
        line = next(filter(_INABILITY.search, _own_lines(log, at)), None)
        if line is not None and turn.kind == "message":
            yield Found(
                at=at,
                strength=1.0,
                reason=f"{turn.agent} says that it cannot do or does not know something.",
                excerpt=_excerpt(line),
            )


def contradicts(log: Log) -> Iterator[Found]:
    """Turns in which something has another value than its source gave it.

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
            for source, rows in (("the task", given), *(() if found else others)):
                known = rows.get(name)
                if known and not any(agrees(value, each) for each in known):
                    yield Found(
                        at=at,
                        strength=1.0,
                        reason=f"{turn.agent} gives {name} as {value}, but {source} "
                        f"says {sorted(known)[0]}.",
                        excerpt=_excerpt(f"{name}: {value}"),
                    )
                    break
        add_rows(heard[turn.hearer], named_values(turn.text))


def unfounded(log: Log) -> Iterator[Found]:
    """Replies with a named number or date that nothing said before gives, or lets calculate.

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
                        excerpt=_excerpt(f"{name}: {value}"),
                    )
                known.learn(value)
        if turn.kind not in ("message", "tool"):
            known.learn(turn.text)


def wrong_value(log: Log) -> Iterator[Found]:
    """The first to say, as the value of something, what is wrong in the last answer."""
    if log.expected is None or log.answer is None:
        return
    # A number of the task is mostly a copy. A word of it, such as one of a question, may be wrong.
    given = {word for word in words_of(log.task) if word[0].isdigit()}
    right = {*words_of(log.expected), *given, *_STOP_WORDS}
    wrong = [word for word in dict.fromkeys(words_of(log.answer)) if word not in right]
    replies = [at for at, turn in enumerate(log.turns) if turn.kind == "reply"]
    for word in wrong[:MOST_WORDS]:
        for at in replies:
            turn = log.turns[at]
            row = next((row for row in log.new_rows[at] if word in words_of(row[1])), None)
            if row is not None:
                yield Found(
                    at=at,
                    strength=1.0,
                    reason=f"{turn.agent} was the first to give {word}, which stands in the last "
                    "answer and not in the right one.",
                    excerpt=_excerpt(f"{row[0]}: {row[1]}"),
                )
                break


def departure(log: Log) -> Iterator[Found]:
    """The step at which the work left the gold path for good."""
    for at, turn in enumerate(log.turns):
        if turn.step_id == log.departed_at and (turn.is_own or turn.kind == "tool"):
            yield Found(
                at=at,
                strength=1.0,
                reason=f"With this step of {turn.agent} the work left the gold path for good.",
                excerpt=_excerpt(turn.text) or None,
            )
            return


def first_result(log: Log) -> Iterator[Found]:
    """The first to give the values of the last answer, where the right one is not known."""
    final = (log.answer or _closing_value(log)) if log.expected is None else None
    wanted = set(words_of(final or "")) - set(words_of(log.task)) - _STOP_WORDS
    if not 0 < len(wanted) <= MOST_WORDS:
        return
    for at, turn in enumerate(log.turns):
        if turn.is_own and wanted <= set(words_of(turn.text)):
            yield Found(
                at=at,
                strength=1.0 if log.leader else 0.0,
                reason=f"{turn.agent} was the first to give what became the answer.",
                excerpt=_excerpt(final or ""),
            )
            return


def last_result(log: Log) -> Iterator[Found]:
    """The last to report to the agent that leads a chat, before that one answered."""
    if log.leader is None:
        return
    others = (at for at, turn in enumerate(log.turns) if turn.is_own and turn.agent != log.leader)
    at = max((at for at in others if log.turns[at].text.strip()), default=None)
    if at is not None:
        yield Found(
            at=at,
            strength=1.0,
            reason=f"{log.turns[at].agent} was the last to report to {log.leader}, who answered.",
            excerpt=_excerpt(log.turns[at].text),
        )


def new_values(log: Log) -> Iterator[Found]:
    """The turns that bring in values that nobody had given, by their number."""
    seen: set[str] = set()
    counts: list[tuple[int, list[str]]] = []
    for at, turn in enumerate(log.turns):
        if turn.is_own and turn.kind != "request":
            fresh = [v for v in dict.fromkeys(marked_values(turn.text)) if v and not set(words_of(v)) <= seen]
            if turn.is_reply:  # in answers to calls, a capital letter only begins a sentence
                fresh = [value for value in fresh if value[0].isdigit()]
            counts.append((at, fresh))
        seen.update(words_of(turn.text), words_of(turn.plan))
    most = max((len(fresh) for _, fresh in counts), default=0)
    # Whoever is led reads pages to the leader: what is new in them is not made up.
    scale = 1.0 if log.leader is None else 0.1
    for at, fresh in counts:
        if fresh:
            yield Found(
                at=at,
                strength=scale * len(fresh) / most,
                reason=f"{log.turns[at].agent} brings in {len(fresh)} values that nobody had given "
                f"before (at most {most} in one step).",
                excerpt=_excerpt(", ".join(fresh[:8])),
            )


def plan_gap(log: Log) -> Iterator[Found]:
    """A speaker that starts from a plan which leaves out most of the question."""
    for at, turn in enumerate(log.turns):
        if turn.plan:
            asked = set(words_of(log.task)) - _STOP_WORDS
            absent = asked - set(words_of(turn.plan))
            share = len(absent) / len(asked) if asked else 0.0
            if share > PLAN_GAP:
                yield Found(
                    at=at,
                    strength=1.0,
                    reason=f"{turn.agent} starts from a plan that leaves out {share:.0%} of the "
                    "words of the question.",
                )


def invented(log: Log) -> Iterator[Found]:
    """Turns whose own words say that data are assumed, mocked or estimated."""
    for at, turn in enumerate(log.turns):
        line = next(filter(_INVENTED.search, _own_lines(log, at)), None)
        if line is not None:
            yield Found(
                at=at,
                strength=1.0,
                reason=f"{turn.agent} works with data that it assumes or makes up.",
                excerpt=_excerpt(line),
            )


def failing_run(log: Log) -> Iterator[Found]:
    """The first program that an agent wrote and that failed when it was run."""
    author: int | None = None
    for at, turn in enumerate(log.turns):
        if turn.is_own and _CODE.search(turn.text):
            author = at
        elif turn.kind == "tool" and author is not None and _RUN_FAILED.search(turn.text[:2000]):
            yield Found(
                at=author,
                strength=1.0,
                reason=f"{log.turns[author].agent} wrote the first program whose run failed.",
                excerpt=_excerpt(turn.text),
            )
            return


def rare_worker(log: Log) -> Iterator[Found]:
    """The first turn of the agent that is asked least, in a chat that one agent leads."""
    if log.leader is None:
        return
    turns = [(at, turn.agent) for at, turn in enumerate(log.turns) if turn.kind == "message"]
    counts = Counter(agent for _, agent in turns if agent != log.leader)
    rarest, times = min(counts.items(), key=lambda item: item[1])
    at = next(at for at, agent in turns if agent == rarest)
    yield Found(
        at=at,
        strength=1.0,
        reason=f"{rarest} was asked least of all ({times} of {len(turns)} turns), and this was its "
        "first.",
        excerpt=_excerpt(log.turns[at].text),
    )


CUES: Mapping[Cue, _Cue] = MappingProxyType(
    {
        "contradicts": _Cue(find=contradicts, weight=5.0),
        "no_answer": _Cue(find=no_answer, weight=4.0),
        "departure": _Cue(find=departure, weight=4.0),
        "unfounded": _Cue(find=unfounded, weight=3.5),
        "declined": _Cue(find=declined, weight=3.0),
        "wrong_value": _Cue(find=wrong_value, weight=2.5),
        "plan_gap": _Cue(find=plan_gap, weight=2.0),
        "new_values": _Cue(find=new_values, weight=1.0),
        "first_result": _Cue(find=first_result, weight=0.6),
        "rare_worker": _Cue(find=rare_worker, weight=0.6),
        "last_result": _Cue(find=last_result, weight=0.3),
        "invented": _Cue(find=invented, weight=1.0),
        "failing_run": _Cue(find=failing_run, weight=0.2),
        "unsure": _Cue(find=unsure, weight=0.2),
    }
)
"""Every cue with its weight. Those at the top show a fault, those at the bottom where one is likely."""


def _went_on(log: Log, failed: Turn) -> bool:
    """Tell whether whoever made a call that failed gave values to those above all the same."""
    above = (turn for turn in log.turns if turn.is_reply and failed.step_id in turn.stands_over)
    nearest = min(above, key=lambda turn: len(turn.stands_over), default=None)
    return nearest is not None and any(True for _ in named_values(nearest.text))


def _closing_value(log: Log) -> str | None:
    """Return the value with which a chat ends: named as final, else in bold, else a number."""
    own = [turn.text for turn in log.turns if turn.kind == "message" and turn.is_own]
    said = [text for text in own if len(words_of(text)) > 1]
    if not said:
        return None
    named = _FINAL.findall(said[-1]) or _BOLD.findall(said[-1])
    numbers = re.findall(r"\d[\d.,]*\d|\d", said[-1])
    return named[-1] if named else numbers[-1] if numbers else None


def _own_lines(log: Log, at: int) -> list[str]:
    """Return the sentences of a turn, if an agent answers for it, that are not in the task."""
    turn = log.turns[at]
    if not turn.is_own:
        return []
    lines = re.split(r"(?<=[.!?])\s|\n", turn.text[:20_000])
    return [line for line in lines if line.strip() and line.strip() not in log.task]


def _excerpt(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _EXCERPT else f"{line[: _EXCERPT - 3]}..."


def signs_of(log: Log) -> Sequence[tuple[Cue, Found]]:
    """Return all signs of a log."""
    return [(name, found) for name, cue in CUES.items() for found in cue.find(log)]


def turn_of(log: Log, found: Found) -> Turn:
    """Return the turn of a sign."""
    return log.turns[found.at]
