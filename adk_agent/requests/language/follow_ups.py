"""read_follow_up: reads what is said about runs and about this program.

A message means what a frame means if every word of it has a place in the frame. So "stop" stops,
and "stop after five tasks" does not: nothing takes "after".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from pydantic import TypeAdapter, ValidationError

from adk_agent.core.plan import BUILTIN_PREFIX
from adk_agent.requests import intent as intents
from adk_agent.requests.intent import Ask, Intent, Situation
from adk_agent.requests.language.frames import (
    FORMATS,
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
from adk_agent.requests.language.vocabulary import Vocabulary

MAX_LENGTH = 400
"""Characters. A longer message wants more than a follow-up can say."""
_LONGEST_TERM, _LONGEST_NAME = 6, 2
_CHANGEABLE = "I can change the trials, tasks, seed, domain, agent, concurrency or number of steps."
_OURS = (
    "fails passes outcome status why compare again repeat resume rest tasks listed formats help "
    "helped yes field mean measure"
)
"""Classes of words of evaluations: a message with one of them is not off topic."""
_EXPLAINED = ("word", "measure", "agent", "domain")
_INTENT = TypeAdapter[Intent](Intent)


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
        return intents.Help()
    if len(text) > MAX_LENGTH or "{" in text:
        return None
    if not any(character.isalnum() for character in text):
        return Ask(question="I cannot read a wish in that. What shall I do?")
    tokens = tokens_of(text, phrases(), vocabulary.domains, situation.registered)
    if not tokens or {"agent", "domain"} <= {token.kind for token in tokens}:
        return None
    found = _read(tokens) or _by_clauses(tokens) or _vague(tokens) or _general(tokens)
    return None if situation.question is not None and isinstance(found, Ask) else found


def _read(tokens: Sequence[Token]) -> Intent | None:
    """Return what the tokens of one sentence mean as a whole."""
    while tokens and tokens[0].text in OPENERS - COURTESIES:
        tokens = tokens[1:]
    if any(token.text[0] in ".!?;" for token in tokens[:-1] if token.kind == "end"):
        return None
    frame = next((frame for frame in FRAMES if frame.fits(tokens)), None)
    explained = _explained(tokens, certainly=frame is not None)
    if explained and (frame is None or frame.intent not in ("why", "compare", "help", "smalltalk")):
        return explained
    several = ("word", "end", "measure", *(frame.several.split() if frame else ()))
    named = [token.kind for token in tokens if token.kind not in several]
    if len(named) != len(set(named)):
        return None
    return _made(frame.intent, tokens) if frame is not None else _about(tokens)


def _made(intent: str, tokens: Sequence[Token]) -> Intent | None:
    """Make an intent, with the names and numbers that stand in the message."""
    if intent in _MAKERS:
        return _MAKERS[intent](tokens)
    fields = {field: _text(tokens, *kinds) for field, kinds in _FIELDS.get(intent, {}).items()}
    return _INTENT.validate_python({"intent": intent, **fields})


_FIELDS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        **{name: {"run_id": ("run", "domain")} for name in ("status", "results", "failures")},
        "why": {"run_id": ("run",), "task_id": ("task", "number")}
        | {"domain": ("domain",), "trial": ("trial",)},
    }
)


def _text(tokens: Iterable[Token], *kinds: str) -> str | None:
    """Return what the first token of the first of `kinds` says, None if there is none."""
    return next((t.text for kind in kinds for t in tokens if t.kind == kind), None)


def _by_clauses(tokens: Sequence[Token]) -> Intent | None:
    """Read a message of several clauses, of which one may say something and the others nothing."""
    read = [(clause, _read(clause)) for clause in _clauses(tokens)]
    found = list(dict.fromkeys(intent for _, intent in read if intent is not None))
    wishes: list[Intent] = [i for i in found if not isinstance(i, intents.Smalltalk)] or found[:1]
    if any(isinstance(intent, intents.Why) for intent in wishes):
        less = (intents.Why(), intents.Failures())
        wishes = [intent for intent in wishes if intent not in less] or [intents.Why()]
    strict = any(isinstance(intent, intents.Repeat | intents.Cancel) for intent in wishes)
    asides = all(_is_aside(clause, strict=strict) for clause, intent in read if intent is None)
    if not wishes or not asides:
        return None
    if len(wishes) > 1:
        several = Ask(question="These are several wishes. Which one shall I do first?")
        return None if any(token.kind == "agent" for token in tokens) else several
    return wishes[0]


def _clauses(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Yield the sentences that can be read, and the clauses of the others."""
    for sentence in _split(tokens, ".!?;\n"):
        yield from [sentence] if _read(sentence) else _split(sentence, "")


def _split(tokens: Sequence[Token], signs: str) -> Iterator[list[Token]]:
    """Yield the parts between some signs; without these, between all signs and before reasons."""
    part: list[Token] = []
    for token in tokens:
        if part and not signs and is_one_of(token, "reason"):
            yield part
            part = []
        part.append(token)
        if token.kind == "end" and (not signs or token.text[0] in signs):
            yield part
            part = []
    if part:
        yield part


def _is_aside(clause: Sequence[Token], *, strict: bool) -> bool:
    """Tell whether a clause only gives a reason: no name, number, wish or condition is in it.

    Where nothing is played or stopped (not `strict`), it may also say that nothing should be.
    """
    words = _content(clause)
    if not words or (
        not strict and len(words) > 1 and all(is_one_of(token, "reading") for token in words)
    ):
        return True
    ended = clause[-1].kind == "end" and clause[-1].text[0] in ".!"
    opens = is_one_of(words[0], "aside reason") or (ended and not strict)
    barred = "constraint wish change cancel repeat resume" if strict else "constraint"
    plain = all(token.kind == "word" and not is_one_of(token, barred) for token in words[1:])
    return opens and plain and words[0].kind == "word"


def _content(tokens: Iterable[Token]) -> list[Token]:
    return [token for token in tokens if token.kind != "end" and token.text not in COURTESIES]


def _spelled(tokens: Iterable[Token]) -> str:
    """Return tokens as they were said."""
    said = [
        token.text.replace("_", " ")
        if _is_phrase(token)
        else token.text.removeprefix(BUILTIN_PREFIX)
        for token in tokens
    ]
    return " ".join(said)


def _is_phrase(token: Token) -> bool:
    return phrases().fullmatch(token.text.replace("_", " ")) is not None


def _vague(tokens: Sequence[Token]) -> Intent | None:
    """Ask about a repetition of which something is not understood."""
    words = _content(tokens)
    if not any(is_one_of(token, "again repeat same") for token in words):
        return None
    left_to_others = any(token.kind in ("agent", "num_tasks") for token in words)
    if (
        left_to_others
        or words[1:2] == [Token("word", "not")]
        or not is_one_of(words[0], "do again repeat same")
    ):
        return None
    quoted = _spelled(REPEAT.unplaced(tokens))
    asked = f"what does {quoted!r} change" if quoted else "what shall be different"
    return Ask(question=f"The same again, but {asked}? {_CHANGEABLE}")


def _general(tokens: Sequence[Token]) -> Intent | None:
    """Read questions about this program, and wishes that belong elsewhere."""
    words = [token for token in tokens if token.kind != "end"]
    if not _content(words):
        return intents.Smalltalk()
    counted = any(token.kind in ("number", "share") for token in words)
    if any(token.kind not in ("word", "number", "share") for token in words):
        return None
    terms = {token.text for token in words if is_one_of(token, "terms") or _is_technical(token)}
    if len(terms) == 1 and not counted and any(is_one_of(token, "mean what") for token in words):
        return intents.Explain(term=terms.pop())
    ours = any(is_one_of(token, _OURS) for token in words)
    if ours or not any(has_no_class(token) for token in words):
        asked = not counted and any(is_one_of(token, "asking") for token in words)
        return intents.Help() if asked else None
    return intents.OffTopic() if _is_english_wish(words) else None


def _is_english_wish(words: Sequence[Token]) -> bool:
    """Tell whether words are a question or an order in English."""
    english = [token for token in words if is_one_of(token, "glue what wish asking courtesy")]
    opens = is_one_of(words[0], "what glue asking courtesy") or any(
        is_one_of(t, "glue") for t in words[1:2]
    )
    return opens and len(english) > 1 and all(token.text.isascii() for token in words)


def _explained(tokens: Sequence[Token], *, certainly: bool) -> Intent | None:
    """Read the question what a term means; `certainly` asks for words that mean nothing else."""
    words = _content(tokens)
    if not words or any(token.kind not in _EXPLAINED or "://" in token.text for token in words):
        return None
    term = [token for token in words if not is_one_of(token, "glue what explaining explained")]
    span = words[words.index(term[0]) : len(words) - words[::-1].index(term[-1])] if term else []
    sure = any(is_one_of(token, "explaining") for token in words)
    known = any(is_one_of(token, "field") or _is_technical(token) for token in span)
    asking = [token.text for token in words if not is_one_of(token, "explained")]
    opened = asking[:2] in (["what", "is"], ["what", "are"], ["what", "was"])
    opened |= len(words) == 1 and words[0].kind != "agent"
    opened |= words[0].text == "how" and len(asking) < len(words)
    named = known or not any(is_one_of(token, "them") for token in words)
    asked = (sure and named) or (known and opened and not certainly)
    longest = _LONGEST_NAME if any(token.kind == "agent" for token in span) else _LONGEST_TERM
    return intents.Explain(term=_spelled(span)) if asked and 0 < len(span) <= longest else None


def _is_technical(token: Token) -> bool:
    """Tell whether a word is spelled as names of metrics are: `load_gini`, `pass^k`."""
    return token.kind in ("word", "measure", "agent") and not (
        token.text.isalpha() or _is_phrase(token)
    )


def _about(tokens: Sequence[Token]) -> Intent | None:
    """Read a list of tasks on a topic: "tasks about baggage", "list the baggage tasks"."""
    start = next((at for at, t in enumerate(tokens) if is_one_of(t, "about")), len(tokens))
    topic = [token for token in tokens[start + 1 :] if token.kind != "end"]
    if not topic:
        end = next((at for at, t in enumerate(tokens) if LISTABLE.get(t.text) == "tasks"), 0)
        topic = [t for t in TASK_LIST.unplaced(tokens) if t in tokens[max(0, end - 3) : end]]
    while len(topic) > 1 and is_one_of(topic[-1], "domain split glue"):
        topic.pop()
    rest = [token for token in tokens if token not in topic and not is_one_of(token, "about")]
    listed = TASK_LIST.fits(rest) and any(is_one_of(token, "what show") for token in rest)
    clear = all(t.kind == "word" and not is_one_of(t, "constraint fails passes") for t in topic)
    if not topic or not listed or not clear or _listed(rest).what != "tasks":
        return None
    return _listed(rest).model_copy(update={"about": _spelled(topic).removeprefix("the ")})


def _listed(tokens: Sequence[Token]) -> intents.ListThings:
    what = next((LISTABLE[token.text] for token in tokens if token.text in LISTABLE), "runs")
    return intents.ListThings(
        what=what, domain=_text(tokens, "domain"), split=_text(tokens, "split")
    )


def _smalltalk(tokens: Sequence[Token]) -> Intent | None:
    kinds: tuple[intents.Courtesy, ...] = ("goodbye", "thanks", "greeting")
    kind = next((kind for kind in kinds if any(is_one_of(t, kind) for t in tokens)), "other")
    asked = any("?" in token.text for token in tokens)
    return None if kind == "other" and asked else intents.Smalltalk(kind=kind)


def _cancel(tokens: Sequence[Token]) -> Intent:
    everything = any(is_one_of(token, "all runs") for token in tokens)
    return intents.Cancel(run_id=_text(tokens, "run"), everything=everything)


def _repeat(tokens: Sequence[Token]) -> Intent | None:
    fields = ("num_trials", "num_tasks", "seed", "max_concurrency", "max_steps", "domain")
    changed: dict[str, object] = {field: _text(tokens, field) for field in fields}
    agents = tuple(token.text for token in tokens if token.kind == "agent")
    try:
        changes = intents.Changes.model_validate({**changed, "agents": agents or None})
    except ValidationError:
        return Ask(
            question="A number in that cannot be used. Which one is meant?", code="bad-number"
        )
    failed = any(is_one_of(token, "fails") for token in tokens)
    if (failed and not _selects_failed(tokens)) or sum(is_one_of(t, "again") for t in tokens) > 1:
        return None
    return intents.Repeat(
        intent="repeat_changed" if failed or changes != intents.Changes() else "repeat",
        run_id=_text(tokens, "run"),
        which="failed" if failed else "all",
        changes=changes,
    )


def _selects_failed(tokens: Sequence[Token]) -> bool:
    """Tell "the failed ones" and "what failed" from "it failed"."""
    at = next(at for at, token in enumerate(tokens) if is_one_of(token, "fails"))
    before, after = tokens[max(0, at - 1) : at], tokens[at + 1 : at + 2]
    return any(is_one_of(t, "selecting repeat tasks") for t in before) or any(
        is_one_of(t, "tasks") for t in after
    )


def _resume(tokens: Sequence[Token]) -> Intent:
    return intents.Repeat(intent="repeat_changed", run_id=_text(tokens, "run"), which="missing")


def _compare(tokens: Sequence[Token]) -> Intent | None:
    run_ids = tuple(token.text for token in tokens if token.kind in ("run", "number"))
    fits = len(run_ids) <= 2 and _text(tokens, "num_runs") in (None, "2")
    return intents.Compare(run_ids=run_ids) if fits else None


def _export(tokens: Sequence[Token]) -> Intent:
    said = [token.text for token in tokens if is_one_of(token, "formats")]
    formats = sorted({FORMATS.get(name, name) for name in said})
    if len(formats) > 1:
        return Ask(question=f"One format at a time: {' or '.join(formats)}?")
    if not formats and any(is_one_of(token, "outcome") for token in tokens):
        formats = ["report"]
    return intents.Export(run_id=_text(tokens, "run"), format=formats[0] if formats else None)


def _answer(_: Sequence[Token]) -> Intent:
    return Ask(question="Nothing was asked that this could answer. What shall I do?")


_MAKERS: Mapping[str, Callable[[Sequence[Token]], Intent | None]] = MappingProxyType(
    {
        "smalltalk": _smalltalk,
        "export": _export,
        "compare": _compare,
        "repeat": _repeat,
        "resume": _resume,
        "cancel": _cancel,
        "list": _listed,
        "answer": _answer,
    }
)
