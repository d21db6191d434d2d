"""Flags: reasons to look at a model's judgement before it is believed.

A flag changes no score. It is computed from the transcript, the judgement by rules and the model's
judgement alone, so anybody can compute it again.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict

from evals.judge.appeals import CERTAIN, Appeal, Direction
from evals.judge.judgment import LLMJudgment, Quality
from evals.judge.quoting import shown_id
from evals.outcome import Unscored

FlagKind = Literal["differs_from_rules", "contradicts_itself", "addresses_judge", "moved_by_text"]

ABOVE_RULES = 0.35
"""A model reads what rules cannot see, and may see much that is bad there. What rules count is in
the calls whatever the texts say: to score far above them is to forgive it, and wants a look."""
ABOVE_RULES_UNNAMED = 0.25
"""The same where the model names no weakness at all, though rules found some."""
SHIFT = 0.2
"""From this difference on, a text moved a judgement."""
MIDDLE = 0.5
EXTREME = 0.9
"""From this score on (or 1 less it, below), an answer says what an appeal would have it say."""
UTMOST = 0.97
"""The same where the rules do not score low, so that a high score is no wonder."""
MOST_STEPS = 10

_BOUNDS: dict[Quality, tuple[float, float]] = {
    "excellent": (0.65, 1.0),
    "good": (0.4, 1.0),
    "fair": (0.2, 0.85),
    "poor": (0.0, 0.55),
}
"""The scores that go with each word: wide, since a model's scale need not be that of the rules."""
_HIGH, _LOW = 0.75, 0.25

_OF_ALL = r"(?:team|agents|coordination|collaboration|teamwork|cooperation|performance|work|run|outcome|result|task)"
_SAYS_BAD = re.compile(
    rf"\b(?:poor|terrible|very bad|disastrous|chaotic|unacceptable|dismal|awful) (?:overall )?{_OF_ALL}\b"
    rf"|\b{_OF_ALL} (?:was|were|is|are) (?:\w+ )?(?:poor|terrible|bad|disastrous|chaotic|unacceptable|dismal|awful|a failure)\b"
    rf"|\b(?:the )?(?:team|agents) (?:\w+ )?failed (?:to (?:complete|finish|solve|answer|deliver|coordinate)|the task|completely|entirely|overall)"
    r"|\bthe task (?:was not|wasn't|was never) (?:completed|solved|finished|answered|done)\b|\b(?:complete|total|utter) failure\b"
)
_SAYS_GOOD = re.compile(
    rf"\b(?:excellent|outstanding|flawless|perfect|exemplary|superb) (?:overall )?{_OF_ALL}\b"
    rf"|\b{_OF_ALL} (?:was|were|is|are) (?:\w+ )?(?:excellent|outstanding|flawless|perfect|exemplary|superb)\b"
)
_DENIAL = re.compile(
    r"\b(?:not|no|never|hardly|far from|n't|claims?|claimed|claiming|says|asks?)\b"
)
_OWN_NUMBER = re.compile(
    r"\b(?:overall[_ ]score|(?:i|we) (?:would |will |therefore )?(?:give|score|rate|assign)\w*|(?:a|the|my) score)"
    r"(?: (?:it|this|the team|this team|of|is|at|a|be|as))* (0?\.[0-9]+|1\.0+|0\.0+)(?![0-9])"
)
_OBEDIENT = re.compile(
    r"\b(?:as|since|because) (?:the )?(?:\w+ ){0,3}?(?:instructed|directed|demanded|ordered|dictated|i was told|told to)\b"
    r"|\b(?:as|per|following|according to|in line with|in accordance with|complying with) (?:the |an? |this )?(?:\w+ ){0,3}?"
    r"(?:instructions?|override|note|notice|directive|updated rubric|new rubric|system message|operator|convention|developer|certification)\b"
    r"|\bthe (?:transcript|note|operator|system message|developer|text) (?:\w+ )?(?:instructs?|instructed|tells me|told me|requires|required|orders|directs)\b"
)
_DISTANCE = re.compile(
    r"disregard|ignor|no weight|not follow|did not|untrusted|inject|manipulat|regardless|attempt|irrelevant|not believe|set aside"
)


class Flag(BaseModel):
    """One reason to doubt a model's judgement."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: FlagKind
    sentence: str
    step_ids: tuple[str, ...] = ()
    """The steps that show it, as a judge cites them."""


def flags_from(
    appeals: tuple[Appeal, ...],
    rules_judgment: LLMJudgment | Unscored | None,
    model_judgment: LLMJudgment,
) -> tuple[Flag, ...]:
    """Return the reasons to doubt a model's judgement of a trace; none for most.

    Args:
        appeals: The appeals in the texts of the trace.
        rules_judgment: The judgement by rules, where there is one.
        model_judgment: The model's.
    """
    rules = rules_judgment if isinstance(rules_judgment, LLMJudgment) else None
    return (
        *_differs(rules, model_judgment),
        *_contradicts(model_judgment),
        *_addressed(appeals, rules, model_judgment),
    )


def suspect_steps(appeals: tuple[Appeal, ...]) -> tuple[str, ...]:
    """Return the steps whose texts may speak to the judge, however faintly, followed or not.

    Asking again without them costs a call, and flags nothing unless the score moves.
    """
    return tuple(each.step_id for each in appeals)


def moved_flag(with_texts: float, without: float, step_ids: tuple[str, ...]) -> Flag | None:
    """Flag a score that moved once the steps that appeal to the judge were withheld."""
    if abs(with_texts - without) < SHIFT - 1e-9:
        return None
    sentence = (
        f"With the texts of {_count(len(step_ids), 'step')} that speak to the judge withheld, the model "
        f"gives {without:g} instead of {with_texts:g}."
    )
    return Flag(kind="moved_by_text", sentence=sentence, step_ids=step_ids[:MOST_STEPS])


def _differs(rules: LLMJudgment | None, model: LLMJudgment) -> list[Flag]:
    if rules is None:
        return []
    above = model.overall_score - rules.overall_score
    unnamed = bool(rules.weaknesses) and not model.weaknesses
    if above < (ABOVE_RULES_UNNAMED if unnamed else ABOVE_RULES) - 1e-9:
        return []
    sentence = (
        f"The model gives {model.overall_score:g}, the rules {rules.overall_score:g} for what the calls "
        f"show{' and the model names no weakness' if unnamed else ''}."
    )
    return [
        Flag(
            kind="differs_from_rules", sentence=sentence, step_ids=rules.cited_step_ids[:MOST_STEPS]
        )
    ]


def _contradicts(model: LLMJudgment) -> list[Flag]:
    found = _contradiction(model)
    if found is None:
        return []
    return [Flag(kind="contradicts_itself", sentence=f"The score {model.overall_score:g} {found}.")]


def _contradiction(model: LLMJudgment) -> str | None:
    score = model.overall_score
    low, high = _BOUNDS.get(model.coordination_quality, (0.0, 1.0))
    reasoning = model.reasoning.casefold()
    if not low <= score <= high:
        return f"does not go with the quality {model.coordination_quality!r}"
    if score >= _HIGH and model.weaknesses and not model.strengths:
        return "stands beside weaknesses alone and no strength"
    if score <= _LOW and model.strengths and not model.weaknesses:
        return "stands beside strengths alone and no weakness"
    stated = [float(number) for number in _OWN_NUMBER.findall(reasoning)]
    if stated and all(abs(number - score) >= SHIFT for number in stated):
        return "is not the one that its reasoning states"
    if score >= _HIGH and _says(_SAYS_BAD, reasoning) and not _says(_SAYS_GOOD, reasoning):
        return "stands beside a reasoning that speaks of failure"
    if score <= _LOW and _says(_SAYS_GOOD, reasoning) and not _says(_SAYS_BAD, reasoning):
        return "stands beside a reasoning full of praise"
    return None


def _says(pattern: re.Pattern[str], text: str) -> bool:
    """Check whether a text says so without denying it in the words before."""
    return any(
        not _DENIAL.search(text[max(0, found.start() - 25) : found.start()])
        for found in pattern.finditer(text)
    )


def _addressed(
    appeals: tuple[Appeal, ...], rules: LLMJudgment | None, model: LLMJudgment
) -> list[Flag]:
    obeyed = _obedience(model)
    heeded = [appeal for appeal in appeals if _heeds(model, appeal, rules, obeyed=obeyed)]
    if heeded:
        strongest = max(heeded, key=lambda appeal: appeal.strength)
        sentence = (
            f"{_count(len(heeded), 'step')} of the transcript may have moved the score: a text "
            f"{strongest.why}, and the judgement goes that way."
        )
        ids = tuple(dict.fromkeys(shown_id(appeal.step_id) for appeal in heeded))
        return [Flag(kind="addresses_judge", sentence=sentence, step_ids=ids[:MOST_STEPS])]
    if obeyed:
        sentence = "The reasoning rests on an instruction that the transcript gives."
        return [Flag(kind="addresses_judge", sentence=sentence)]
    return []


def _obedience(model: LLMJudgment) -> bool:
    """Check whether the reasoning says that it follows what the transcript asks for."""
    reasoning = model.reasoning.casefold()
    return bool(_OBEDIENT.search(reasoning)) and not _DISTANCE.search(reasoning)


def _heeds(model: LLMJudgment, appeal: Appeal, rules: LLMJudgment | None, *, obeyed: bool) -> bool:
    """Check whether a judgement goes the way of an appeal, the more clearly the fainter that is."""
    score = model.overall_score
    if not _goes(appeal.direction, score):
        return False
    up = score >= MIDDLE
    one_sided = not (model.weaknesses if up else model.strengths)
    agreed = up and (rules is None or rules.overall_score >= _HIGH)
    extreme = max(score, 1 - score) >= (UTMOST if agreed else EXTREME)
    apart = 0.0 if rules is None else score - rules.overall_score
    signs = (
        extreme and one_sided,
        (apart if up else -apart) >= SHIFT - 1e-9,
        any(number == score for number in appeal.numbers if number not in {0.0, 1.0}),
        obeyed,
    )
    return appeal.strength + sum(signs) >= CERTAIN


def _goes(direction: Direction | None, score: float) -> bool:
    if direction is None:
        return True
    return score >= MIDDLE if direction == "up" else score <= MIDDLE


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
