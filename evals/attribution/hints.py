"""Cues that only make a step more likely: a new value, a gap in a plan, a program that failed. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from evals.attribution.refusals import INABILITY
from evals.attribution.signs import STOP_WORDS, Found, excerpt_of, own_lines
from evals.attribution.turns import Log
from evals.attribution.values import marked_values, words_of

_INVENTED = re.compile(
    r"\b(?:assum\w+|hypothetical\w*|placeholder\w*|mock\w*|simulat\w+|dummy|made[- ]up|"
    r"for (?:the sake of|demonstration|illustration)|example data|"
    r"let['’]s say|suppose)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"```[a-z]*\n", re.IGNORECASE)
_RUN_FAILED = re.compile(r"exit ?code: [1-9]|\bTraceback \(most recent|execution failed", re.I)
_FINAL = re.compile(r"final answer\W{1,3}\s*(.+)", re.IGNORECASE)
_BOLD = re.compile(r"\*\*([^*\n]{1,80})\*\*")
MOST_WORDS = 40
"""Words of an answer; who first gave a longer one is not looked for."""
PLAN_GAP = 0.8
"""Share of the question's words that a plan may leave out before that is a sign."""


def unsure(log: Log) -> Iterator[Found]:
    """Find messages of a chat that say that something cannot be done or is not known."""
    for at, turn in enumerate(log.turns):
        line = next(filter(INABILITY.search, own_lines(log, at)), None)
        if line is not None and turn.kind == "message":
            yield Found(
                at=at,
                strength=1.0,
                reason=f"{turn.agent} says that it cannot do or does not know something.",
                excerpt=excerpt_of(line),
            )


def plan_gap(log: Log) -> Iterator[Found]:
    """Find a speaker that starts from a plan which leaves out most of the question."""
    for at, turn in enumerate(log.turns):
        if turn.plan:
            asked = set(words_of(log.task)) - STOP_WORDS
            absent = asked - set(words_of(turn.plan))
            share = len(absent) / len(asked) if asked else 0.0
            if share > PLAN_GAP:
                yield Found(
                    at=at,
                    strength=1.0,
                    reason=f"{turn.agent} starts from a plan that leaves out {share:.0%} of the "
                    "words of the question.",
                )


def new_values(log: Log) -> Iterator[Found]:
    """Find turns that bring in values that nobody had given, and rate them by their number."""
    seen: set[str] = set()
    counts: list[tuple[int, list[str]]] = []
    for at, turn in enumerate(log.turns):
        if turn.is_own and turn.kind != "request":
            fresh = [
                v
                for v in dict.fromkeys(marked_values(turn.text))
                if v and not set(words_of(v)) <= seen
            ]
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
                excerpt=excerpt_of(", ".join(fresh[:8])),
            )


def invented(log: Log) -> Iterator[Found]:
    """Find turns whose own words say that data are assumed, mocked or estimated."""
    for at, turn in enumerate(log.turns):
        line = next(filter(_INVENTED.search, own_lines(log, at)), None)
        if line is not None and turn.kind != "request":
            yield Found(
                at=at,
                strength=1.0,
                reason=f"{turn.agent} works with data that it assumes or makes up.",
                excerpt=excerpt_of(line),
            )


def failing_run(log: Log) -> Iterator[Found]:
    """Find the first program that an agent wrote and that failed when it was run."""
    author: int | None = None
    for at, turn in enumerate(log.turns):
        if turn.is_own and _CODE.search(turn.text):
            author = at
        elif turn.kind == "tool" and author is not None and _RUN_FAILED.search(turn.text[:2000]):
            yield Found(
                at=author,
                strength=1.0,
                reason=f"{log.turns[author].agent} wrote the first program whose run failed.",
                excerpt=excerpt_of(turn.text),
            )
            return


def first_result(log: Log) -> Iterator[Found]:
    """Find the first to give the values of the last answer, if the right one is not known."""
    final = (log.answer or _closing_value(log)) if log.expected is None else None
    wanted = set(words_of(final or "")) - set(words_of(log.task)) - STOP_WORDS
    if not 0 < len(wanted) <= MOST_WORDS:
        return
    for at, turn in enumerate(log.turns):
        if turn.is_own and wanted <= set(words_of(turn.text)):
            yield Found(
                at=at,
                strength=1.0 if log.leader else 0.0,
                reason=f"{turn.agent} was the first to give what became the answer.",
                excerpt=excerpt_of(final or ""),
            )
            return


def last_result(log: Log) -> Iterator[Found]:
    """Find the last report to the agent that leads a chat, before that one answered."""
    if log.leader is None:
        return
    others = (at for at, turn in enumerate(log.turns) if turn.is_own and turn.agent != log.leader)
    at = max((at for at in others if log.turns[at].text.strip()), default=None)
    if at is not None:
        yield Found(
            at=at,
            strength=1.0,
            reason=f"{log.turns[at].agent} was the last to report to {log.leader}, who answered.",
            excerpt=excerpt_of(log.turns[at].text),
        )


def rare_worker(log: Log) -> Iterator[Found]:
    """Find the first turn of the agent that is asked least, in a chat that one agent leads."""
    if log.leader is None:
        return
    turns = [(at, turn.agent) for at, turn in enumerate(log.turns) if turn.kind == "message"]
    counts = Counter(agent for _, agent in turns if agent != log.leader)
    rarest, times = min(counts.items(), key=lambda item: item[1])
    others = sorted(count for agent, count in counts.items() if agent != rarest)
    if not others or 2 * times > others[len(others) // 2]:
        return  # all are asked alike
    at = next(at for at, agent in turns if agent == rarest)
    yield Found(
        at=at,
        strength=1.0,
        reason=f"{rarest} was asked least of all ({times} of {len(turns)} turns), and this was its "
        "first.",
        excerpt=excerpt_of(log.turns[at].text),
    )


def _closing_value(log: Log) -> str | None:
    """Return the value with which a chat ends: named as final, else in bold, else a number."""
    own = [turn.text for turn in log.turns if turn.kind == "message" and turn.is_own]
    said = [text for text in own if len(words_of(text)) > 1]
    if not said:
        return None
    named = _FINAL.findall(said[-1]) or _BOLD.findall(said[-1])
    numbers = re.findall(r"\d[\d.,]*\d|\d", said[-1])
    return named[-1] if named else numbers[-1] if numbers else None
