"""read_follow_up: reads what is said about runs and about this program.

A message means what a frame means if every word of it has a place in the frame. So "stop" stops, and
"stop after five tasks" does not: nothing takes "after".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from pydantic import TypeAdapter, ValidationError

from adk_agent.core.plan import BUILTIN_PREFIX
from adk_agent.requests.intent import (
    Ask,
    Cancel,
    Changes,
    Compare,
    Courtesy,
    Explain,
    Export,
    Failures,
    Help,
    Intent,
    Listable,
    ListThings,
    OffTopic,
    Repeat,
    Results,
    Situation,
    Smalltalk,
    Status,
    Why,
)
from adk_agent.requests.language.frames import (
    FRAMES,
    LISTABLE,
    OPENERS,
    REPEAT,
    TASK_LIST,
    has_no_class,
    is_one_of,
    phrases,
)
from adk_agent.requests.language.harmless import COURTESIES
from adk_agent.requests.language.phrasing import Token, tokens_of
from adk_agent.requests.reading.vocabulary import Vocabulary

MAX_LENGTH = 400
"""Characters. A longer message wants more than a follow-up can say."""
_LONGEST_TERM, _LONGEST_NAME = 6, 2
_CHANGEABLE = "I can change the trials, tasks, seed, domain, agent, concurrency or number of steps."
_SAME_FORMAT = {"md": "markdown", "opentelemetry": "otlp", "xml": "junit"} | dict.fromkeys(
    ("html", "webpage", "web_page", "link"), "page"
)
_TERM = re.compile(
    r"(?P<certain>explain(?: to me)?(?: what)?|define|describe|what (?:does|do)|(?:the )?meaning of"
    r"|what is (?:meant by|an?)|(?:what is )?(?:the )?difference (?:between|of))?"
    r"(?P<how>how (?:is|are|do you|does))?(?P<open>(?:what|who) (?:is|are|was))?"
    r" ?(?:the |an? |this |that )*(?P<term>.+?)"
    r"(?P<closing> (?:means?|stands? for|is|are|work(?:ed out)?|(?:calculat|comput|measur|defin)ed?))?"
    r"(?: (?:exactly|here|then|to me|simply|like .+|in .+|next to .+))*"
)


def read_follow_up(text: str, situation: Situation, *, vocabulary: Vocabulary) -> Intent | None:
    """Return what is said about runs or this program; None for what may be an evaluation.

    Deterministic, without a model, and in time proportional to the text. An empty text asks for
    help. What names both an agent and a domain is left to the reader of evaluations, and so is
    what may answer an open question.

    Args:
        text: The message.
        situation: The conversation that it is part of.
        vocabulary: The names that it may use.
    """
    if not text.strip():
        return Help()
    if len(text) > MAX_LENGTH or "{" in text:
        return None
    if not any(character.isalnum() for character in text):
        return Ask(question="I cannot read a wish in that. What shall I do?")
    tokens = tokens_of(text, phrases(), vocabulary.domains, situation.registered)
    if {"agent", "domain"} <= {token.kind for token in tokens}:
        return None
    found = _read(tokens) or _by_clauses(tokens) or _vague(tokens) or _general(tokens)
    return None if situation.question is not None and isinstance(found, Ask) else found


def _read(tokens: Sequence[Token]) -> Intent | None:
    """Return what tokens mean as a whole."""
    while tokens and tokens[0].text in OPENERS - COURTESIES:
        tokens = tokens[1:]
    frame = next((frame for frame in FRAMES if frame.fits(tokens)), None)
    found = _MAKERS[frame.intent](tokens) if frame is not None else _about(tokens)
    several = {"word", "end", "measure", *_SEVERAL.get(type(found), ())}
    named = [token.kind for token in tokens if token.kind not in several]
    if len(named) != len(set(named)):
        return None
    if isinstance(found, Why | Compare | Help | Smalltalk):
        return found
    return _explained(tokens, certainly=found is not None) or found


_SEVERAL: Mapping[type, tuple[str, ...]] = MappingProxyType(
    {Compare: ("run", "number"), Repeat: ("agent",), Explain: ("agent",)}
)
"""What may be named more than once."""


def _by_clauses(tokens: Sequence[Token]) -> Intent | None:
    """Read a message of several clauses, of which one may say something and the others nothing."""
    clauses = _clauses(tokens)
    read = [_read(clause) for clause in clauses]
    found = [intent for at, intent in enumerate(read) if intent and intent not in read[:at]]
    wishes = [intent for intent in found if not isinstance(intent, Smalltalk)] or found[:1]
    if any(isinstance(intent, Why) for intent in wishes):
        wishes = [intent for intent in wishes if not isinstance(intent, Failures)]
    strict = any(isinstance(intent, Repeat | Cancel) for intent in wishes)
    asides = [clause for clause, intent in zip(clauses, read, strict=True) if intent is None]
    if not wishes or not all(_is_aside(clause, strict=strict) for clause in asides):
        return None
    if len(wishes) > 1:
        return Ask(question="These are several wishes. Which one shall I do first?")
    return wishes[0]


def _clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    clauses: list[list[Token]] = [[]]
    for token in tokens:
        if is_one_of(token, "reason"):
            clauses.append([])
        clauses[-1].append(token)
        if token.kind == "end":
            clauses.append([])
    return [clause for clause in clauses if any(token.kind != "end" for token in clause)]


def _is_aside(clause: Sequence[Token], *, strict: bool) -> bool:
    """Tell whether a clause only gives a reason: no name, number, wish or condition is in it.

    Where nothing is played or stopped (not `strict`), it may also say that nothing should be.
    """
    words = _content(clause)
    if not words or (not strict and all(is_one_of(token, "reading") for token in words)):
        return True
    ended = clause[-1].kind == "end" and clause[-1].text[0] in ".!"
    opens = is_one_of(words[0], "aside reason") or (ended and not strict)
    barred = "constraint wish change cancel repeat resume" if strict else "constraint"
    said = all(token.kind == "word" and not is_one_of(token, barred) for token in words[1:])
    return opens and said and words[0].kind == "word"


def _content(tokens: Iterable[Token]) -> list[Token]:
    return [token for token in tokens if token.kind != "end" and token.text not in COURTESIES]


def _vague(tokens: Sequence[Token]) -> Intent | None:
    """Ask about a repetition of which something is not understood."""
    words = _content(tokens)
    if any(t.kind in ("agent", "num_tasks") for t in words) or "not" in (t.text for t in words[:2]):
        return None
    again = any(is_one_of(token, "again repeat same") for token in words)
    if not again or not is_one_of(words[0], "do again repeat same"):
        return None
    quoted = " ".join(_spelled(REPEAT.unplaced(tokens)))
    said = f"what does {quoted!r} change" if quoted else "what shall be different"
    return Ask(question=f"The same again, but {said}? {_CHANGEABLE}")


def _general(tokens: Sequence[Token]) -> Intent | None:
    """Read questions about this program, and wishes that belong elsewhere."""
    words = [token for token in tokens if token.kind != "end"]
    if not _content(words):
        return Smalltalk()
    if any(token.kind not in ("word", "number", "share") for token in words):
        return None
    terms = {t.text for t in words if is_one_of(t, "terms") or _is_technical(t)}
    if len(terms) == 1 and any(is_one_of(token, "mean what") for token in words):
        return Explain(term=terms.pop())
    if any(is_one_of(token, _OURS) for token in words):
        return Help() if any(is_one_of(token, "asking") for token in words) else None
    return OffTopic() if _is_english_wish(words) else None


_OURS = (
    "fails passes results status why compare again repeat resume rest tasks listed formats help "
    "helped yes cancel export field mean measure"
)


def _is_english_wish(words: Sequence[Token]) -> bool:
    """Tell whether words are a question or an order in English, with a word that no frame knows."""
    english = [token for token in words if is_one_of(token, "glue what wish courtesy")]
    opens = is_one_of(words[0], "what glue courtesy")
    orders = len(words) > 1 and is_one_of(words[1], "glue")
    plain = all(token.text.isascii() for token in words) and any(map(has_no_class, words))
    return plain and len(english) > 1 and (opens or orders)


def _explained(tokens: Sequence[Token], *, certainly: bool) -> Intent | None:
    """Read the question what a term means; `certainly` asks for words that can mean nothing else."""
    words = _content(tokens)
    if any(is_one_of(t, "number task trial run share") or "://" in t.text for t in words):
        return None
    match = _TERM.fullmatch(" ".join(_spelled(words)))
    if match is None or not (match["certain"] or match["how"] or match["open"]):
        return None
    if (match["how"] and not match["closing"]) or (certainly and match["open"]):
        return None
    term = match["term"].split()
    known = any(is_one_of(t, "field") or _is_technical(t) for t in words if t.text in term)
    longest = _LONGEST_NAME if any(t.kind == "agent" for t in words) else _LONGEST_TERM
    if len(term) > longest or not (known or match["certain"]):
        return None
    return Explain(term=match["term"])


def _is_technical(token: Token) -> bool:
    """Tell whether a word is spelled as names of metrics are: `load_gini`, `pass^k`."""
    return token.kind in ("word", "measure", "agent") and not (
        token.text.isalpha() or phrases().fullmatch(token.text.replace("_", " "))
    )


def _spelled(tokens: Iterable[Token]) -> Iterator[str]:
    """Yield the tokens as they were said."""
    for token in tokens:
        joined = phrases().fullmatch(token.text.replace("_", " "))
        if token.kind != "end":
            yield (
                token.text.replace("_", " ") if joined else token.text.removeprefix(BUILTIN_PREFIX)
            )


def _about(tokens: Sequence[Token]) -> Intent | None:
    """Read a list of tasks on a topic: "which tasks are about baggage", "list the baggage tasks"."""
    start = next((at for at, t in enumerate(tokens) if is_one_of(t, "about")), len(tokens))
    topic = [token for token in tokens[start + 1 :] if token.kind != "end"]
    if not topic:
        end = next((at for at, t in enumerate(tokens) if t.text in LISTABLE["tasks"]), 0)
        topic = [t for t in TASK_LIST.unplaced(tokens) if t in tokens[max(0, end - 3) : end]]
    while len(topic) > 1 and is_one_of(topic[-1], "domain split glue"):
        topic.pop()
    rest = [token for token in tokens if token not in topic and not is_one_of(token, "about")]
    listed = TASK_LIST.fits(rest) and any(is_one_of(token, "what show") for token in rest)
    if not topic or not listed or any(t.kind != "word" or is_one_of(t, _NO_TOPIC) for t in topic):
        return None
    about = " ".join(_spelled(topic)).removeprefix("the ")
    found = _listed(rest)
    return found.model_copy(update={"about": about}) if found.what == "tasks" else None


_NO_TOPIC = "constraint fails passes"


def _listed(tokens: Sequence[Token]) -> ListThings:
    names: dict[str, Listable] = {name: what for what, all_ in LISTABLE.items() for name in all_}
    what = next(names[token.text] for token in tokens if token.text in names)
    return ListThings(what=what, domain=_text(tokens, "domain"), split=_text(tokens, "split"))


def _text(tokens: Iterable[Token], *kinds: str) -> str | None:
    """Return what the first token of the first of `kinds` says, None if there is none."""
    return next((t.text for kind in kinds for t in tokens if t.kind == kind), None)


def _smalltalk(tokens: Sequence[Token]) -> Intent | None:
    kinds: tuple[Courtesy, ...] = ("goodbye", "thanks", "greeting")
    kind = next((kind for kind in kinds if any(is_one_of(t, kind) for t in tokens)), "other")
    asked = any(token.kind == "end" and "?" in token.text for token in tokens)
    return None if kind == "other" and asked else Smalltalk(kind=kind)


def _why(tokens: Sequence[Token]) -> Intent:
    return _WHY.validate_python(
        {
            "run_id": _text(tokens, "run"),
            "task_id": _text(tokens, "task", "number"),
            "domain": _text(tokens, "domain"),
            "trial": _text(tokens, "trial"),
        }
    )


def _cancel(tokens: Sequence[Token]) -> Intent | None:
    everything = any(is_one_of(token, "all runs") for token in tokens)
    return _if_one_sentence(tokens, Cancel(run_id=_text(tokens, "run"), everything=everything))


def _resume(tokens: Sequence[Token]) -> Intent | None:
    rest = Repeat(intent="repeat_changed", run_id=_text(tokens, "run"), which="missing")
    return _if_one_sentence(tokens, rest)


def _repeat(tokens: Sequence[Token]) -> Intent | None:
    numbers = ("num_trials", "num_tasks", "seed", "max_concurrency", "max_steps", "domain")
    said: dict[str, object] = {kind: _text(tokens, kind) for kind in numbers}
    agents = tuple(token.text for token in tokens if token.kind == "agent")
    try:
        changes = Changes.model_validate({**said, "agents": agents or None})
    except ValidationError:
        return Ask(
            question="A number in that cannot be used. Which one is meant?", code="bad-number"
        )
    failed = any(is_one_of(token, "fails") for token in tokens)
    again = [token for token in tokens if is_one_of(token, "again")]
    if len(again) > 1 or (failed and not _selects_failed(tokens)):
        return None
    repeat = Repeat(
        intent="repeat_changed" if failed or changes != Changes() else "repeat",
        run_id=_text(tokens, "run"),
        which="failed" if failed else "all",
        changes=changes,
    )
    return _if_one_sentence(tokens, repeat)


def _selects_failed(tokens: Sequence[Token]) -> bool:
    """Tell "the failed ones" and "what failed" from "it failed"."""
    at = next(at for at, token in enumerate(tokens) if is_one_of(token, "fails"))
    selecting = "the all only just what which that repeat did tasks"
    before, after = tokens[max(0, at - 1) : at], tokens[at + 1 : at + 2]
    return any(is_one_of(t, selecting) for t in before) or any(is_one_of(t, "tasks") for t in after)


def _if_one_sentence(tokens: Sequence[Token], intent: Intent) -> Intent | None:
    """Return an intent to play or to stop unless its words stand in several sentences."""
    inner = [token.text[0] for token in tokens[:-1] if token.kind == "end"]
    return None if any(sign in ".!?;" for sign in inner) else intent


def _compare(tokens: Sequence[Token]) -> Intent | None:
    run_ids = tuple(token.text for token in tokens if token.kind in ("run", "number"))
    fits = len(run_ids) <= 2 and _text(tokens, "num_runs") in (None, "2")
    return Compare(run_ids=run_ids) if fits else None


def _export(tokens: Sequence[Token]) -> Intent:
    said = {token.text for token in tokens if is_one_of(token, "formats")}
    formats = sorted({_SAME_FORMAT.get(name, name) for name in said})
    if len(formats) > 1:
        return Ask(question=f"One format at a time: {' or '.join(formats)}?")
    if not formats and any(is_one_of(token, "results") for token in tokens):
        formats = ["report"]
    return Export(run_id=_text(tokens, "run"), format=formats[0] if formats else None)


def _told(intent: type[Status | Results | Failures]) -> Callable[[Sequence[Token]], Intent | None]:
    """Return what makes an intent about a run, which may be named by its domain."""

    def make(tokens: Sequence[Token]) -> Intent | None:
        orders = intent is not Status and is_one_of(_content(tokens)[0], "run play test try")
        return None if orders else intent(run_id=_text(tokens, "run", "domain"))

    return make


def _answer(tokens: Sequence[Token]) -> Intent:
    return Ask(question="Nothing was asked that this could answer. What shall I do?")


_WHY = TypeAdapter[Why](Why)
_MAKERS: Mapping[str, Callable[[Sequence[Token]], Intent | None]] = MappingProxyType(
    {
        "smalltalk": _smalltalk,
        "help": lambda _: Help(),
        "export": _export,
        "why": _why,
        "compare": _compare,
        "repeat": _repeat,
        "resume": _resume,
        "cancel": _cancel,
        "failures": _told(Failures),
        "status": _told(Status),
        "results": _told(Results),
        "list": _listed,
        "answer": _answer,
    }
)
