"""Answers of members to the user or to their caller. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from purple_agent.teams.records import KNOWN_LINE, Exercise, Facts

NO_ANSWER = "We have no answer to that."
NOTHING_NEW = "Nothing to add."
_FAILED_LINE = "No answer from: "
_ANSWERS = (
    ("can the return be accepted", "return", "The return is {}."),
    ("last day of the return window", "last return day", "The last day for a return is {}."),
    ("money is refunded", "refund", "The refund is {} EUR."),
    ("customer notified", "notice to", "The customer is notified at {}."),
    ("shipping cost", "shipping", "Shipping costs {} EUR."),
    ("total to pay", "total", "The total to pay is {} EUR."),
    ("points does the customer earn", "points earned", "The customer earns {} points."),
    ("points worth", "points value", "The points are worth {} EUR."),
    ("which warehouse", "warehouse", "The warehouse that sends the whole order: {}."),
    ("day does it arrive", "arrival", "It arrives on {}."),
    ("the compensation", "compensation", "The compensation is {} EUR."),
    ("covered by the warranty", "repair", "The repair is {} by the warranty."),
    ("price difference", "difference", "The price difference is {} EUR."),
)
"""Words of a question, the fact that answers it, and the sentence of the answer."""


def final_answer(exercise: Exercise, facts: Facts, failed: Sequence[str]) -> str:
    """Answer the user: a line for each question that can be answered.

    If members are known to have failed, they and the unanswered questions are named.
    """
    said = [_sentence(question, facts) for question in exercise.questions]
    lines = [sentence for sentence in said if sentence is not None]
    if failed:
        lines.append(f"{_FAILED_LINE}{', '.join(failed)}.")
        lines += [
            f"Missing: {question}"
            for question, sentence in zip(exercise.questions, said, strict=True)
            if sentence is None
        ]
    return "\n".join(lines) if lines else NO_ANSWER


def report(facts: Facts, failed: Sequence[str]) -> str:
    """Return a member's answer to another: new facts and failed members."""
    lines = [f"- {name}: {value}" for name, value in facts.items()]
    found = [KNOWN_LINE, *lines] if lines else [NOTHING_NEW]
    return "\n".join([*found, *([f"{_FAILED_LINE}{', '.join(failed)}."] if failed else [])])


def read_failed(text: str) -> tuple[str, ...]:
    """Return the members that a report names as failed."""
    found = re.search(rf"^{_FAILED_LINE}(.{{1,2000}})\.$", text, re.MULTILINE)
    return () if found is None else tuple(found[1].split(", "))


def _sentence(question: str, facts: Facts) -> str | None:
    asked = question.lower()
    for sign, fact, sentence in _ANSWERS:
        if sign in asked:
            return sentence.format(facts[fact]) if fact in facts else None
    return None
