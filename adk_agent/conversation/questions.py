"""Questions: what is confirmed before it is done, and what an answer means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from adk_agent.core.plan import EvaluationPlan
from adk_agent.requests.description import conversations, entry_of
from adk_agent.requests.intent import Evaluate, Question, Repeat

Verdict = Literal["yes", "no"]

_YES = frozenset(
    [
        "yes",
        "y",
        "yeah",
        "yep",
        "yup",
        "sure",
        "ok",
        "okay",
        "of course",
        "certainly",
        "absolutely",
        "correct",
        "right",
        "exactly",
        "confirm",
        "confirmed",
        "i confirm",
        "agreed",
        "i agree",
        "approved",
        "go",
        "go ahead",
        "go on",
        "proceed",
        "continue",
        "do it",
        "do so",
        "do that",
        "play it",
        "run it",
        "start",
        "start it",
        "do",
        "sounds good",
        "looks good",
        "that is right",
        "that's right",
        "that is it",
        "i do",
        "i mean it",
        "make it so",
        "fine",
        "perfect",
        "great",
        "alright",
        "all right",
        "that one",
        "this one",
        "the newest",
        "the newest one",
    ]
)
_NO = frozenset(
    [
        "no",
        "n",
        "nope",
        "nah",
        "not",
        "not now",
        "not yet",
        "do not",
        "dont",
        "don't",
        "do not do it",
        "don't do it",
        "stop",
        "cancel",
        "cancel it",
        "cancel that",
        "abort",
        "never mind",
        "nevermind",
        "forget it",
        "forget that",
        "leave it",
        "wait",
        "hold on",
        "i do not",
        "i don't",
        "wrong",
        "that is wrong",
        "that's wrong",
        "rather not",
        "better not",
    ]
)
_COURTESIES = re.compile(r"\b(?:please|thanks|thank you|then|now)\b")
_CLAUSES = re.compile(r"[^\w' ]+")
_MOST_CHARS = 60
_IDS_SHOWN = 8
_MOST_TEXT = 300


def verdict(text: str) -> Verdict | None:
    """Return whether a message is a plain yes or a plain no; None for all else.

    "yes, but with three trials" is neither: it says something new.
    """
    plain = " ".join(text.replace("’", "'").lower().split())
    if len(plain) > _MOST_CHARS:
        return None
    clauses = [_core(clause) for clause in _CLAUSES.split(plain)]
    said = [clause for clause in clauses if clause]
    if not said:
        return None
    if all(clause in _YES for clause in said):
        return "yes"
    return "no" if all(clause in _NO for clause in said) else None


def _core(clause: str) -> str:
    """Return a clause without courtesies, unless one of them makes it what it is: `not now`."""
    plain = " ".join(clause.split())
    return plain if plain in _NO else " ".join(_COURTESIES.sub(" ", plain).split())


def settles(question: Question | None, text: str) -> bool:
    """Tell whether a message ends a question: a plain no always does, a plain yes if it can."""
    if question is None:
        return False
    said = verdict(text)
    return said == "no" or (said == "yes" and question.waiting is not None)


def to_confirm(
    waiting: Evaluate | Repeat, plan: EvaluationPlan, doubts: Sequence[str], *, request: str
) -> Question:
    """Return the question whether a plan is played, in markdown.

    Args:
        waiting: What asks for the plan.
        plan: The plan, which is shown.
        doubts: Why it is to be confirmed, a sentence each.
        request: What was said.
    """
    parts = ["I would play this:", "\n".join(outline(plan)), *doubts, "Shall I play it?"]
    return Question(
        text="\n\n".join(parts),
        waiting=waiting,
        request=request,
        plan=plan,
        doubts=tuple(doubts),
    )


def outline(plan: EvaluationPlan) -> list[str]:
    """Return the plan in a few bullets."""
    lines = [f"- {each.role}: {each.address}" for each in plan.members or plan.participants]
    if plan.members:
        lines.append(f"- one team, entry: {entry_of(plan)}")
    for each in plan.tasks:
        shown = ", ".join(each.task_ids[:_IDS_SHOWN])
        more = len(each.task_ids) - _IDS_SHOWN
        count = len(each.task_ids)
        lines.append(
            f"- {each.domain}: {count} task{'s' if count != 1 else ''} "
            f"({shown}{f', {more} more' if more > 0 else ''})"
        )
    trials = "1 trial" if plan.num_trials == 1 else f"{plan.num_trials} trials"
    noun = "conversation" if plan.most_conversations == 1 else "conversations"
    lines.append(f"- {trials} of each task, {conversations(plan)} {noun} in all")
    if plan.chaos is not None:
        lines.append(f"- again under injected faults: {', '.join(plan.chaos.families)}")
    if plan.isolation:
        lines.append("- probes of isolation after the trials")
    return lines
