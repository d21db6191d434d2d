"""read_follow_up: reads what is said about runs and about this program.

A message means what a frame means if every word of it has a place in the frame. So "stop" stops,
and "stop after five tasks" does not: nothing takes "after".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from adk_agent.core.plan import BUILTIN_PREFIX
from adk_agent.requests import intent as intents
from adk_agent.requests.intent import Ask, Intent, Situation
from adk_agent.requests.language.cues import guess
from adk_agent.requests.language.frames import FORMATS, FRAMES, LISTABLE, Word, has, words_of
from adk_agent.requests.language.vocabulary import Vocabulary
from adk_agent.requests.refusal import Refusal

MAX_LENGTH = 400
"""Characters. A longer message wants more than a follow-up can say."""
_LONGEST_TERM = 6
_Model = TypeVar("_Model", bound=BaseModel)
_OF_RUNS = (intents.Failures, intents.Results, intents.Status, intents.Compare, intents.Export)
_CHANGEABLE = "I can change the trials, tasks, seed, domain, agent, concurrency or number of steps."
_OURS = "fails outcome status why compare repeat resume cancel listed formats help field explaining"
"""Classes of words of evaluations: a message with one of them is not off topic."""


def read_follow_up(text: str, situation: Situation, *, vocabulary: Vocabulary) -> Intent | None:
    """Return what is said about runs or this program; None for what may be an evaluation.

    Deterministic, without a model, and in time proportional to the text. An empty text asks for
    help. What names both an agent and a domain is left to the reader of evaluations, unless
    it asks why, and so is what may answer an open question.

    Args:
        text: The message.
        situation: The conversation that it is part of.
        vocabulary: The names that it may use.
    """
    if not text.strip():
        return intents.Help()
    if len(text) > MAX_LENGTH or "{" in text:
        return None
    if not any(character.isalnum() for character in text):
        return Ask(question="I cannot read a wish in that. What shall I do?")
    try:
        words = words_of(text, vocabulary, situation.registered)
    except Refusal:
        return None
    if {"AGENT", "DOMAIN"} <= {word.kind for word in words}:
        return _about_agent(words)
    found = _read(words) or _by_clauses(words) or _vague(words) or _general(words)
    if found is None or isinstance(found, intents.OffTopic):
        guessed = _guess(text, words)
        found = guessed if found is None or isinstance(guessed, _OF_RUNS) else found
    return None if situation.question is not None and isinstance(found, Ask) else found


def _about_agent(words: Sequence[Word]) -> Intent | None:
    """Read a question why an agent of a run failed, of a message that might be an evaluation."""
    found = _read(words) if words[0].is_any("why what how") else None
    return found if isinstance(found, intents.Why | intents.Failures) else None


def _guess(text: str, words: Sequence[Word]) -> Intent | None:
    """Return what a message without agent, and without numbers beside a domain, seems to want."""
    domains = [word.text for word in words if word.kind == "DOMAIN"]
    counted = has(words, "NUMBER NUM_TASKS NUM_TRIALS SEED MAX_STEPS MAX_CONCURRENCY")
    named = has(words, "RUN_ID TRIAL") or len(domains) > 1 or (domains and counted)
    if has(words, "AGENT") or named:
        return None
    return guess(text, domains[0] if domains else None)


def _read(words: Sequence[Word]) -> Intent | None:
    """Return what one sentence means as a whole."""
    while words and words[0].is_any("and then but"):
        words = words[1:]
    if has(words[:-1], "END"):
        return None
    frame = next((frame for frame in FRAMES if frame.fits(words)), None)
    explained = _explained(words, certainly=frame is not None)
    if explained and (frame is None or frame.intent not in ("why", "compare", "help", "smalltalk")):
        return explained
    several = f"END PAUSE MEASURE AGENT {'RUN_ID NUMBER' if has(words, 'compare') else ''}"
    named = [word.kind for word in words if word.kind.isupper() and not word.is_any(several)]
    return _MADE[frame.intent](words) if frame and len(named) == len(set(named)) else None


def _by_clauses(words: Sequence[Word]) -> Intent | None:
    """Read a message of several clauses, of which one may say something and the others nothing."""
    read = [(clause, _read(clause)) for clause in _split(words)]
    found = list(dict.fromkeys(intent for _, intent in read if intent is not None))
    wishes: list[Intent] = [i for i in found if not isinstance(i, intents.Smalltalk)] or found[:1]
    if any(isinstance(intent, intents.Why) for intent in wishes):
        rest = [i for i in wishes if i not in (intents.Why(), intents.Failures())]
        wishes = rest or [intents.Why()]
    strict = any(isinstance(intent, intents.Repeat | intents.Cancel) for intent in wishes)
    asides = all(_is_aside(clause, strict=strict) for clause, intent in read if intent is None)
    if not wishes or not asides:
        return None
    if len(wishes) > 1:
        several = Ask(question="These are several wishes. Which one shall I do first?")
        return None if has(words, "AGENT") else several
    return wishes[0]


def _split(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield clauses: what a sign ends, or a word for a reason begins."""
    part: list[Word] = []
    for word in words:
        if part and (part[-1].is_any("END PAUSE") or word.is_any("because cos since")):
            yield part
            part = []
        part.append(word)
    yield part


def _is_aside(clause: Sequence[Word], *, strict: bool) -> bool:
    """Tell whether a clause only gives a reason: no name, number, wish or condition is in it.

    Where nothing is played or stopped (not `strict`), it may be any plain statement.
    """
    words = _content(clause)
    ended = clause[-1].kind == "END" and "?" not in clause[-1].text
    barred = "constraint wish change cancel repeat resume" if strict else "constraint"
    plain = all(word.kind.islower() for word in words) and not has(words[1:], barred)
    return not words or (plain and (words[0].is_any("aside") or (ended and not strict)))


def _content(words: Iterable[Word]) -> list[Word]:
    """Return words without signs and courtesies."""
    return [word for word in words if not word.is_any("END PAUSE courtesy")]


def _spelled(words: Iterable[Word]) -> str:
    """Return words as they were said."""
    return " ".join(word.text.removeprefix(BUILTIN_PREFIX) for word in words)


def _vague(words: Sequence[Word]) -> Intent | None:
    """Ask about a repetition of which something is not understood."""
    said = _content(words)
    opens = has(said[:1], "do repeat same") and has(said, "repeat same")
    if not opens or has(said, "AGENT NUM_TASKS not"):
        return None
    repetition = next(frame for frame in FRAMES if frame.intent == "repeat")
    quoted = _spelled(repetition.unplaced(words))
    asked = f"what does {quoted!r} change" if quoted else "what shall be different"
    return Ask(question=f"The same again, but {asked}? {_CHANGEABLE}")


def _general(words: Sequence[Word]) -> Intent | None:
    """Read questions about this program, and wishes in English that belong elsewhere."""
    words = [word for word in words if not word.is_any("END PAUSE")]
    if not _content(words):
        return intents.Smalltalk()
    if any(
        not (word.kind.islower() or word.is_any("NUMBER SHARE MEASURE ABOUT")) for word in words
    ):
        return None
    counted = has(words, "NUMBER SHARE")
    terms = {word.text for word in words if word.is_any("terms MEASURE")}
    if len(terms) == 1 and not counted and has(words, "explaining what"):
        return intents.Explain(term=terms.pop())
    plain = "harmless glue what asking constraint"
    if has(words, _OURS) or all(word.is_any(plain) for word in words):
        return intents.Help() if not counted and has(words, "asking") else None
    opens = words[0].is_any("what glue asking courtesy") or has(words[1:2], "glue")
    english = sum(word.is_any("glue what wish asking courtesy") for word in words) > 1
    return intents.OffTopic() if opens and english else None


def _explained(words: Sequence[Word], *, certainly: bool) -> Intent | None:
    """Read the question what a term means; `certainly` asks for words that mean nothing else."""
    words = _content(words)
    named = [word for word in words if word.kind.isupper() and not word.is_any("MEASURE DOMAIN")]
    if not words or any(not word.text.startswith(BUILTIN_PREFIX) for word in named):
        return None
    term = [word for word in words if not word.is_any("glue what explaining explained")]
    span = words[words.index(term[0]) : len(words) - words[::-1].index(term[-1])] if term else []
    asking = [word.text for word in words if not word.is_any("explained")]
    opened = asking[0:1] == ["what"] and asking[1:2] in (["is"], ["are"], ["was"])
    opened |= len(words) == 1 > len(named) or (words[0].text == "how" and len(asking) < len(words))
    known = has(span, "field MEASURE AGENT")
    sure = has(words, "explaining") and (known or not has(words, "it this that"))
    asked = (sure or (known and opened and not certainly)) and 0 < len(span) <= _LONGEST_TERM
    return intents.Explain(term=_spelled(span)) if asked else None


def _first(words: Iterable[Word], *kinds: str) -> str | None:
    """Return the text of the first word of the first of `kinds`, None if there is none."""
    return next((word.text for kind in kinds for word in words if word.kind == kind), None)


def _take(model: type[_Model], words: Sequence[Word], **given: object) -> _Model:
    """Make a model of what is given, and the names and numbers of the kinds that its fields name."""
    named = {name: _first(words, name.upper()) for name in model.model_fields}
    return model.model_validate({k: v for k, v in (named | given).items() if v is not None})


def _listed(words: Sequence[Word]) -> Intent:
    what = next((LISTABLE[word.text] for word in words if word.text in LISTABLE), "runs")
    return _take(intents.ListThings, words, what=what)


def _smalltalk(words: Sequence[Word]) -> Intent | None:
    kinds: tuple[intents.Courtesy, ...] = ("goodbye", "thanks", "greeting")
    kind = next((kind for kind in kinds if has(words, kind)), None)
    asked = kind != "greeting" and any("?" in word.text for word in words)
    return None if asked else intents.Smalltalk(kind=kind or "other")


def _repeat(words: Sequence[Word]) -> Intent:
    agents = tuple(word.text for word in words if word.kind == "AGENT")
    try:
        changes = _take(intents.Changes, words, agents=agents or None)
    except ValidationError:
        question = "A number in that cannot be used. Which one is meant?"
        return Ask(question=question, code="bad-number")
    rest = "missing" if has(words, "resume rest") else "all"
    which = "failed" if has(words, "failed_ones") else rest
    same = which == "all" and changes == intents.Changes()
    intent = "repeat" if same else "repeat_changed"
    return _take(intents.Repeat, words, intent=intent, which=which, changes=changes)


def _compare(words: Sequence[Word]) -> Intent | None:
    run_ids = tuple(word.text for word in words if word.is_any("RUN_ID NUMBER latest previous"))
    fits = len(run_ids) <= 2 and _first(words, "RUNS") in (None, "2")
    return intents.Compare(run_ids=run_ids) if fits else None


def _export(words: Sequence[Word]) -> Intent:
    formats = sorted({FORMATS.get(w.text, w.text) for w in words if w.is_any("formats")})
    if len(formats) > 1:
        return Ask(question=f"One format at a time: {' or '.join(formats)}?")
    report = "report" if has(words, "outcome") else None
    return _take(intents.Export, words, format=formats[0] if formats else report)


def _one_agent(words: Iterable[Word]) -> bool:
    return len({word.text for word in words if word.kind == "AGENT"}) < 2


def _failures(words: Sequence[Word]) -> Intent | None:
    is_run = _first(words, "AGENT") is None  # a run may be named by its domain
    run_id = _first(words, "RUN_ID", *(["DOMAIN"] if is_run else []))
    return _take(intents.Failures, words, run_id=run_id) if _one_agent(words) else None


def _why(words: Sequence[Word]) -> Intent | None:
    task_id = _first(words, "TASK_ID", "NUMBER")
    return _take(intents.Why, words, task_id=task_id) if _one_agent(words) else None


def _about_run(model: type[_Model]) -> Callable[[Sequence[Word]], _Model]:
    """Return what makes an intent about a run, which may be named by its domain."""
    return lambda words: _take(model, words, run_id=_first(words, "RUN_ID", "DOMAIN"))


_MADE: Mapping[str, Callable[[Sequence[Word]], Intent | None]] = {
    "answer": lambda _: Ask(question="Nothing was asked that this could answer. What shall I do?"),
    "cancel": lambda words: _take(intents.Cancel, words, everything=has(words, "all")),
    "compare": _compare,
    "export": _export,
    "failures": _failures,
    "help": lambda _: intents.Help(),
    "list": _listed,
    "repeat": _repeat,
    "results": _about_run(intents.Results),
    "smalltalk": _smalltalk,
    "status": _about_run(intents.Status),
    "why": _why,
}
"""The makers of intents by frame, which take names and numbers from the message."""
