"""Options: reads the settings of a sentence, such as trials, seed and steps.

Patterns match spaces, not line breaks: the next line of a list is about something else. Each reader
takes its phrases out of the text, so that their numbers are not read as tasks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from adk_agent.core.plan import MAX_CONCURRENCY, MAX_SEED, MAX_STEPS, MAX_TRIALS, EvaluationType
from adk_agent.requests.reading.numbers import whole
from adk_agent.requests.reading.vocabulary import Vocabulary
from adk_agent.requests.reading.words import alternatives, did_you_mean
from adk_agent.requests.refusal import Refusal
from tau_bridge.wording import TASK_NOUN

T = TypeVar("T")

_NUM = r"(?<![\w.^\-])(?P<n>-?[0-9]+(?:\.[0-9]+)?)(?![0-9])"
_IS = r" *(?:[:=]|\b(?:is|of|to|at|as|number|value|limit)\b)* *"

_EACH = (
    r"(?: *(?:, *)?(?:each\b|apiece\b|per +(?:task|id)\b|"
    r"(?:for|of|on|in) +(?:each|every)(?: +(?:task|one|it)\b)?))?"
)
_MANY_TRIALS = (
    r"(?:trials?|trails?|attempts?|repetitions?|repeats?|reps?|rounds?|iterations?|tries)"
)
_ONCE = (
    (rf"\btwice\b(?! +(?:as|the)\b){_EACH}", 2),
    (rf"\bthrice\b{_EACH}", 3),
    ((r"\bonce +(?:each|per +task|only)\b|\b(?:just|only|it|each|tasks?|exactly) +once\b"
     r"(?! +(?:the|it|you|we|they|that))|\bno +repetitions?\b"), 1),
)  # fmt: skip
_PASS = (
    r"\bpass *(?:\^|@|\*\*|[ _-]*hat[ _-]*| +to +the +) *(?P<n>-?[0-9]+(?:\.[0-9]+)?)",
    r"\bk *(?:=|:|\bis\b|\bof\b) *(?P<n>-?[0-9]+(?:\.[0-9]+)?)",
)
_PASS_WITHOUT_NUMBER = re.compile(r"\bpass *[\^@] *k\b")
_SEEDS = re.compile(r"\bseeds\b *[:=]? *[0-9]+(?: *(?:,|and|or|to|-|, *and) *[0-9]+)+")
_SEED = (
    rf"(?:--)?\b(?:random +)?seed(?:s|ed)?(?: +with)?{_IS}{_NUM}",
    rf"\b{_NUM} +as +(?:the +)?(?:random +)?seed\b",
)
_AT_MOST = (
    r"(?:(?:max(?:imum)?|at +most|up +to|no +more +than|limit(?:ed)?|within|under|"
    r"cap(?:ped)?)\b *(?:of +|to +|at +)?)?"
)
_STEPS = (
    (
        rf"\b{_AT_MOST}{_NUM}[ -]+(?:max +)?steps?\b(?: *(?:max(?:imum)?|at +most|limit|each|"
        r"per +\w+))*"
    ),
    (
        r"(?:--)?\b(?:max(?:imum)?[ _-]*(?:number +of +|num[ _-])?steps?|"
        rf"steps?[ _-]+(?:limit|cap|max(?:imum)?)|steps){_IS}{_NUM}"
    ),
)
_TOGETHER = r"(?:at +a +time|at +once|in +parallel|concurrently|simultaneously)"
_CONVERSATIONS = r"(?:conversations|tasks|trials|games|of +them|runs|sessions)"
_CONCURRENCY = (
    (
        rf"(?:--)?\b(?:max(?:imum)?[ _-]*)?(?:concurren(?:cy|t)|parallelism)"
        rf"(?:[ _-]+(?:limit|level|{_CONVERSATIONS}))?{_IS}{_NUM}"
    ),
    rf"\b{_AT_MOST}{_NUM} *(?:{_CONVERSATIONS} +)?{_TOGETHER}",
    rf"\b{_AT_MOST}{_NUM} *(?:concurrent|parallel|simultaneous)(?: +{_CONVERSATIONS})?\b",
    rf"\b(?:with +|using +|use +)?{_AT_MOST}{_NUM} +(?:workers?|threads?)\b",
)
_ONE_BY_ONE = re.compile(
    r"\bsequential(?:ly)?\b|\b(?:1|one) +(?:by +(?:1|one)|after +(?:the +other|another))\b|"
    r"\b(?:no +parallelism|in +sequence)\b"
)
_SOLO = re.compile(
    r"\bsolo(?:[ _-]+mode)?\b(?: *[:=] *true)?|\b(?:without|no) +(?:an? +)?(?:simulated +)?"
    r"user\b(?! *(?:model|llm))"
)
_NOT_SOLO = re.compile(r"\b(?:not?|without) +(?:in +)?solo(?: +mode)?\b|\bsolo *[:=] *false\b")
_ACTION_ONLY = re.compile(
    r"\bactions?[ -]+only\b(?: +(?:scoring|evaluation|comparison|mode|rewards?))?|"
    r"\blegacy +(?:scoring|comparison(?: +of +actions)?|action\w*(?: +\w+ing)?)|"
    r"\bonly +(?:score|compare|count|check) +(?:the +)?actions\b|"
    r"\b(?:score|compare|count|check) +(?:the +)?actions +only\b|"
    r"(?<!\bno )(?<!\bnot )(?<!\bwithout )\bactions?[ -]+(?:based[ -]+)?(?:evaluation|scoring)\b|"
    r"\bevaluation(?:[ _-]*(?:type|mode) *(?:[:=]|is)?| *[:=]) *actions?\b"
)
_SPLIT_WORD = re.compile(r"\b(?:split|set|subset|partition)\b")
_MODEL = r"(?P<m>(?=[\w./:@\-]*[0-9/])[A-Za-z][\w./:@\-]*[\w])"
_USER = (
    r"(?:the +)?(?:simulated +)?user(?:['’]s)?(?:[ _-]*(?:simulator|simulation|sim|model|llm))*\b"
)
_USER_MODEL = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?:--)?\buser[_-]llm *[:=]? *(?P<m>[A-Za-z][\w./:@\-]*\w)",
        (
            rf"\b(?:with|use|using|take|let|have)? *\b{_MODEL} +(?:as|for|plays?|be|acts? +as|to +(?:play|be|act +as|simulate)|"
            rf"simulat\w+|in +the +role +of) +{_USER}\b"
        ),
        (
            rf"(?:--)?\b(?:simulat\w+ +)?{_USER}(?: *(?:[:=]|\b(?:is|with|by|using|should +be|runs? +on|"
            rf"be|played|simulated|from|on)\b))* *{_MODEL}"
        ),
    )
)


_COUNTED = rf"(?:DOMAIN|{TASK_NOUN})\b"
_TRIALS = (
    rf"{_NUM} *(?:times\b(?! +(?:faster|slower|more|as|better|a\b))|x\b(?! *(?:[0-9]|{_COUNTED}))){_EACH}",
    (
        rf"{_NUM} *(?:(?:independent|separate|full|complete|identical) +)?"
        rf"(?:{_MANY_TRIALS}|runs|(?<=1 )run)\b{_EACH}"
    ),
    (
        rf"(?:--)?\b(?:(?:num(?:ber)?|n)[ _-]+(?:of[ _-]+)?)?(?:trials|trails|repetitions|repeats|"
        rf"attempts|runs)(?: +per +task)? *[:=]? *{_NUM}(?! *{_COUNTED})"
    ),
    rf"\btrial *[:=] *{_NUM}",
    rf"(?:\bx|×) *(?P<n>[0-9]+)\b{_EACH}",
)


@lru_cache
def _named_split(splits: tuple[str, ...]) -> re.Pattern[str]:
    split = alternatives(splits)
    return re.compile(
        rf"\b(?P<name>{split})[ -]+split\b|"
        r"\b(?P<set>test|train|base)[ -]+(?:set|subset|partition)\b|"
        r"\bsplit *(?:[:=]|\bis\b|\bof\b)? *['\"]?"
        rf"(?P<after>{split})\b|\bsplit *[:=] *(?P<other>\w+)|"
        r"\b(?P<unknown>dev|development|validation|valid|val|eval|holdout|held-out)[ -]+"
        r"(?:split|set|subset)\b"
    )


@dataclass(kw_only=True)
class Options:
    """The settings of a sentence; None if not given."""

    text: str
    num_trials: int | None = None
    max_concurrency: int | None = None
    seed: int | None = None
    max_steps: int | None = None
    solo: bool = False
    evaluation_type: EvaluationType = "all"
    split: str | None = None

    def take(self, pattern: re.Pattern[str]) -> bool:
        """Take all matches out of the text; return True if there were any."""
        self.text, count = pattern.subn(" ; ", self.text)
        return count > 0


def take_user_model(text: str) -> tuple[str, str | None]:
    """Take the phrase that names the simulated user's model out of a text; return both.

    Raises:
        Refusal: `contradiction` for two models.
    """
    found: list[str] = []
    for pattern in _USER_MODEL:
        found += [match["m"] for match in pattern.finditer(text)]
        text = pattern.sub(" ; ", text)
    return text, _only(found, "models for the user")


def take_options(text: str, vocabulary: Vocabulary) -> Options:
    """Take the settings out of a lower-case text in digits; return both.

    Raises:
        Refusal: `bad-number`, `contradiction` or `unknown-split`.
    """
    options = Options(text=text)
    options.max_steps = _number(options, _STEPS, "number of steps", most=MAX_STEPS)
    seeds = _SEEDS.search(text)
    if seeds:
        raise Refusal("contradiction", f"{seeds[0]!r}: a request has one seed; write one")
    options.seed = _number(options, _SEED, "seed", least=0, most=MAX_SEED)
    options.max_concurrency = _concurrency(options)
    options.num_trials = _trials(options, vocabulary)
    options.solo = _solo(options)
    if options.take(_ACTION_ONLY):
        options.evaluation_type = "action"
    options.split = _split(options, vocabulary)
    return options


def _only(values: Sequence[T], what: str) -> T | None:
    different = list(dict.fromkeys(values))
    if len(different) > 1:
        shown = " and ".join(str(value) for value in different)
        raise Refusal("contradiction", f"{shown}: these are different {what}; write one")
    return different[0] if different else None


def _taken(options: Options, patterns: Sequence[str | re.Pattern[str]]) -> list[str]:
    found: list[str] = []
    for pattern in patterns:
        compiled = re.compile(pattern)
        found += [match["n"] for match in compiled.finditer(options.text)]
        options.text = compiled.sub(" ; ", options.text)
    return found


def _number(
    options: Options, patterns: Sequence[str], what: str, *, least: int = 1, most: int
) -> int | None:
    found = _taken(options, patterns)
    return _only([whole(text, what=what, least=least, most=most) for text in found], f"{what}s")


def _concurrency(options: Options) -> int | None:
    found = _taken(options, _CONCURRENCY)
    if options.take(_ONE_BY_ONE):
        found.append("1")
    what = "number of conversations at a time"
    return _only([whole(text, what=what, most=MAX_CONCURRENCY) for text in found], what)


def _trials(options: Options, vocabulary: Vocabulary) -> int | None:
    what = "number of trials"
    ks = [whole(text, what="k of pass^k", most=MAX_TRIALS) for text in _taken(options, _PASS)]
    options.take(_PASS_WITHOUT_NUMBER)
    said = _taken(options, [vocabulary.pattern(each) for each in _TRIALS])
    found = [whole(text, what=what, most=MAX_TRIALS) for text in said]
    found += [times for pattern, times in _ONCE if options.take(re.compile(pattern))]
    trials = _only(found, "numbers of trials")
    if ks and trials is not None and max(ks) > trials:
        raise Refusal(
            "contradiction",
            f"pass^{max(ks)} needs at least {max(ks)} trials of each task, not {trials}",
        )
    return trials if trials is not None or not ks else max(ks)


def _solo(options: Options) -> bool:
    without = options.take(_NOT_SOLO)
    solo = options.take(_SOLO)
    if solo and without:
        raise Refusal("contradiction", "solo mode is both requested and declined: write one")
    return solo


def _split(options: Options, vocabulary: Vocabulary) -> str | None:
    if not _SPLIT_WORD.search(options.text):
        return None
    found = []
    pattern = _named_split(vocabulary.splits)
    for match in pattern.finditer(options.text):
        unknown = match["other"] or match["unknown"]
        if unknown:
            hint = did_you_mean(unknown, vocabulary.splits)
            raise Refusal("unknown-split", f"there is no split {unknown!r}: {hint}")
        found.append(match["name"] or match["set"] or match["after"])
    options.text = pattern.sub(" of ", options.text)
    return _only(found, "splits")
