"""read_follow_up: reads what is said about runs and about this program, word by word.

A message means what a frame means if it has the frame's key words, and nothing that the frame does
not allow beside them. So "stop" stops, and "stop after five tasks" does not: nothing here takes
"after". Word order counts only where a name or number stands beside what it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from pydantic import ValidationError

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
    ListThings,
    OffTopic,
    Repeat,
    Results,
    Situation,
    Smalltalk,
    Status,
    Why,
)
from adk_agent.requests.language.harmless import COURTESIES
from adk_agent.requests.language.phrasing import Token, tokens_of
from adk_agent.requests.reading.vocabulary import Vocabulary

MAX_LENGTH = 400
"""Characters. A longer message wants more than a follow-up can say."""
_LONGEST_TERM, _LONGEST_NAME = 6, 2
_CHANGEABLE = "I can change the trials, tasks, seed, domain, agent, concurrency or number of steps."

_CLASSES = {
    "fails": """fail fails failed failing failure failures broke broken lost unsuccessful unsolved
        went_wrong go_wrong gone_wrong goes_wrong did_not_pass does_not_pass do_not_pass not_pass
        not_passed not_work did_not_work did_not_succeed not_solved mistakes did_not_manage
        not_manage trip_up tripped_up stumble stumbled struggle struggled""",
    "passes": "pass passes passed passing solve solved succeed succeeded correct right",
    "why": """why how_come reason reasons cause causes caused what_happened what_is_wrong what_was_wrong
        problem issue""",
    "again": """again once_more one_more_time another_time anew over_again all_over_again over
        a_second_time second_time another_round another_go another_run another_try another_attempt
        one_more_run one_more_round same_again from_scratch from_the_start""",
    "repeat": """rerun re-run repeat retry re-try redo re-do replay retest re-test restart reevaluate
        re-evaluate""",
    "do": "run do try play test start evaluate go execute launch have",
    "same": """same same_thing same_as_before exactly identical as_it_was as_before like_before as_is settings
        setup configuration way""",
    "instead": "instead this_time",
    "change": "use switch change make set increase raise lower take",
    "resume": """resume continue carry_on go_on keep_going keep_on proceed pick_up pick_it_up unpause
        go_ahead_with""",
    "finish": "finish complete do run play",
    "rest": "rest remainder remaining missing left unplayed unfinished leftover",
    "left_off": "from where you it we left_off stopped ended were was left",
    "cancel": """cancel stop abort kill halt terminate quit interrupt never_mind nevermind forget_it
        call_it_off call_off pull_the_plug end_it end_this end_the_run end_the_evaluation""",
    "doing": "running working evaluating testing playing going doing",
    "at_once": "immediately at_once straight_away here already asap",
    "all": "all everything every whole entire thing lot them_all",
    "them": "it this that them those these they",
    "tight": "the that this my our your of all both last latest current previous just only interrupted stopped canceled cancelled",
    "runs": "runs evaluations tests jobs assessments",
    "run": """run evaluation assessment test benchmark job process eval one runs evaluations
        tests benchmarks jobs conversation round""",
    "tasks": "task tasks trial trials case cases ones conversation conversations scenario scenarios",
    "agents": "agent agents bot bots it he she they you we i",
    "prep": "with on for of against using at over to from in by but",
    "last": """last latest previous prior current earlier recent running final old new before first
        second last_time ago now started launched kicked_off""",
    "glue": """the a an any some of for on in with from to at by about as it its this that them those
        these they he she there and is are was were be been has have had did do does i we me us my
        our you your all only just each per both so_far yet still already here more anything something and or one can the_two the_three those_two
        these_two those_three""",
    "what": "what which who where how_many how_much how when many much",
    "show": """show list give print display get fetch see view open send tell read look bring name
        want need like have got pull""",
    "have": "available have know support offer exist there got come comes known use understand",
    "passive": """played play run test use used evaluate choose pick compute computed calculate
        measure report supported built-in bundled registered installed kinds types sort overview names
        past previous earlier so_far including included tiers""",
    "status": """status progress state eta how_far how_far_along how_long how_much_longer done
        finished ready complete completed stuck hanging hung alive going coming coming_along where_are_we where_are_you where_do_we_stand
        where_do_things_stand news
        update updates still_running when_will getting_on""",
    "time": """take takes taking will would be it_take left to_go until till minutes seconds hours
        longer time remaining along far""",
    "rest_of": "left remaining missing to_go remain",
    "results": """result results score scores scored report summary summarise summarize outcome
        outcomes figures numbers pass_rate success_rate reward rewards verdict bottom_line came_out
        come_out how_did how_good how_well turn_out turned_out recap rate percentage average""",
    "fare": """do go perform end fare get got come out final overall full complete short brief quick
        quickly again pass together so""",
    "low": "low bad poor zero wrong badly poorly 0 so many points counted counts marked count exactly as",
    "explain": "explain details detail evidence excerpt transcript",
    "said": "say said says happen happened go",
    "compare": """compare compared diff comparison differ difference differences improve improved improvement
        better_or_worse better worse changed regress regressed regression""",
    "than": "than between against versus vs or up down compared two last_two two_last latest_two two_latest get got gotten",
    "domains": "domains domain benchmarks benchmark",
    "teams": "teams team",
    "metrics": "metrics metric measures measurements",
    "evaluators": "evaluators evaluator",
    "bots": "agents bots",
    "history": "runs evaluations history past_runs",
    "problems": "tasks scenarios exercises problems cases questions",
    "formats": """json junit csv markdown md html page webpage web_page link otlp opentelemetry inspect
        agentbeats pdf excel xlsx xml yaml parquet""",
    "export": "export save download convert dump store produce generate create write share attach",
    "file": "file files format copy version output as into attachment disk document raw ci pipeline build",
    "help": "help usage manual instructions examples example commands capabilities skills how-to",
    "helped": """what_can_you_do what_do_you_do what_could_you_do who_are_you what_are_you what_is_this
        how_does_this_work how_does_it_work how_do_you_work how_do_i_use how_can_i_use get_started
        what_can_i what_should_i what_do_i what_could_i what_can_we what_you_do introduce_yourself
        how_does_greenroom_work what_is_greenroom how_do_i_start how_do_i_begin""",
    "helping": "have do ask say type send write tell you this that it here with me show greenroom to",
    "greeting": """hi hello hey hallo howdy yo moin greetings good_morning good_afternoon good_evening
        good_day how_are_you are_you_there is_anyone_there ping morning""",
    "thanks": "thanks thank_you thx ty cheers appreciate appreciated grateful",
    "goodbye": "bye goodbye see_you good_night farewell later cya",
    "feeling": """great nice cool wow awesome perfect lol haha hahaha excellent wonderful amazing
        brilliant sweet good fine well_done ok okay sorry annoying slow boring sad ugh hmm oh ah
        interesting impressive stupid useless terrible awful bad disappointing meh funny love like happy
        glad pleased well neat super fantastic not not_bad helpful useful hate""",
    "warm": """so very much really a lot work job you are it is this that was there everyone all world
        the i am your for helping to me my of an pretty too day soon tomorrow have got just
        today way now agent been would be these those what at_all first version fair enough""",
    "yes": """yes no yep yeah sure nope go_ahead please_do ok_go both first second third
        first_one second_one option""",
    "about": """about involving involve involves concerning regarding mentioning mention mentions covering
        cover covers dealing_with deal_with deals_with related_to to_do_with on_the_topic_of""",
    "aside": """i we it this that the my our they there to_see to_check
        to_make_sure to_be_sure wrong""",
    "reason": "because cos bc since",
    "wish": "want need like would should must make let please whether or can could and",
    "asking": """how_do_i how_do_we how_can_i how_can_we how_would_i how_should_i how_does_one can_i
        could_i may_i can_we what_do_i what_should_i is_there_a_way is_it_possible is_there_an_option""",
    "terms": """unscored floor ceiling trial trials reward tier tiers seed metric evaluator baseline label
        split solo persona oracle""",
    "mean": "mean means meaning understand definition",
    "reading": "not no never need anything any new yet do start run play evaluate it that just to",
    "ours": """fails passes results status why compare again repeat resume rest tasks problems bots runs
        metrics evaluators teams domains formats help helped yes cancel export field mean measure""",
    "field": """agent agents task tasks trial trials domain domains benchmark benchmarks run runs evaluate
        evaluation evaluations test tests score scores scored unscored reward rewards pass metric metrics
        evaluator evaluators floor ceiling baseline seed report results tier tiers judge judged trace
        traces solo persona split step steps team teams failure failures result user simulator
        greenroom a2a reference oracle topology mode confidence interval model models label labels
        telecom tau2 tau""",
    "joined": """rather_than instead_of at_a_time in_parallel at_once times_each max_steps one_by_one
        one_at_a_time one_after_the_other""",
    "constraint": """not no never without except but unless if when until before after while only
        most least hardest easiest hard easy long short longest shortest random first last new old
        every each other different same tomorrow later""",
}  # fmt: skip

_NO_OPENING = COURTESIES | {"and", "then", "but", "so"}
_OF_CHANGES = "num_trials num_tasks seed max_concurrency max_steps agent domain"


@dataclass(frozen=True)
class _Frame:
    """What a message has to have, each of `needs` at least once, and what it may have beside it.

    Both are names of classes or kinds of tokens; `a|b` is one of the two.
    """

    intent: str
    needs: str
    allows: str = ""
    opens: str = ""
    """If not empty, the first word is one of these."""

    def fits(self, tokens: Sequence[Token]) -> bool:
        first = next((t for t in tokens if not (t.kind == "end" or t.text in _NO_OPENING)), None)
        if self.opens and not (first and any(_is(first, kind) for kind in self.opens.split())):
            return False
        return not self.unplaced(tokens) and all(
            any(_is(token, kind) for token in tokens for kind in need.split("|"))
            for need in self.needs.split()
        )

    def unplaced(self, tokens: Sequence[Token]) -> list[Token]:
        known = self.needs.replace("|", " ").split() + self.allows.split()
        return [t for t in tokens if not any(_is(t, kind) for kind in ("end", "courtesy", *known))]


_TELLING = "glue what show run tasks agents last all"
_REPEATED = f"them tight run again repeat same tasks all do instead prep and each per old {_OF_CHANGES}"
_CHANGE = _OF_CHANGES.replace(" ", "|")
_LISTED = "glue what show have passive"
_LISTING = "glue what show have domain problems domains bots teams history metrics evaluators"
_FRAMES = (
    _Frame("smalltalk", "thanks", "warm feeling greeting goodbye share help last"),
    _Frame("help", "help", "glue show what greeting few sort thing things kind might could ask say"),
    _Frame("help", "helped", "helping"),
    _Frame("smalltalk", "greeting|goodbye|feeling", "warm share"),
    _Frame("export", "formats", f"export file results {_TELLING}"),
    _Frame("export", "export|file", f"results file {_TELLING}"),
    _Frame("why", "why", f"{_TELLING} fails passes low results said explain task trial domain number share"),
    _Frame("why", "explain fails", f"{_TELLING} task trial domain"),
    _Frame("why", "task", f"{_TELLING} fails passes low said explain trial domain", "what glue show explain task"),
    _Frame("compare", "compare", "glue what run last than results did num_runs fare show agents number"),
    _Frame("repeat", "repeat|again", f"{_REPEATED} change"),
    _Frame("repeat", "repeat|again fails", f"{_REPEATED} fails what are were did", "do repeat again only just"),
    _Frame("repeat", f"same {_CHANGE}", _REPEATED),
    _Frame("repeat", f"do it|that {_CHANGE}", _REPEATED, "do"),
    _Frame("repeat", f"instead {_CHANGE}", f"{_REPEATED} change"),
    _Frame("resume", "resume", "them tight run left_off rest tasks with"),
    _Frame("resume", "finish rest", "them tight run tasks"),
    _Frame("cancel", "cancel", "them tight run doing is are which at_once all"),
    _Frame("failures", "fails", f"{_TELLING} results domain passes"),
    _Frame("status", "status", "glue what show run tasks time last domain agents doing"),
    _Frame("status", "rest_of what", "glue run tasks time last doing play"),
    _Frame("results", "measure was|did|got|my|our", f"{_TELLING} domain share"),
    _Frame("results", "results|passes", f"{_TELLING} fare domain share"),
    _Frame("runs", "what have run|done|played|evaluated|tested", "glue so_far"),
    _Frame("domains", "domains", _LISTED, _LISTING),
    _Frame("agents", "bots", _LISTED, _LISTING),
    _Frame("teams", "teams", _LISTED, _LISTING),
    _Frame("runs", "history", f"{_LISTED} last", _LISTING),
    _Frame("metrics", "metrics", f"{_LISTED} teams bots tasks metrics", _LISTING),
    _Frame("evaluators", "evaluators", f"{_LISTED} teams bots tasks metrics", _LISTING),
    _Frame("tasks", "problems", f"{_LISTED} domain split", _LISTING),
    _Frame("answer", "yes|number", "glue"),
    _Frame("answer", "do it"),
)  # fmt: skip
_TERM = re.compile(
    r"(?P<strong>explain(?: to me)?(?: what)?|define|describe|what (?:does|do)|(?:the )?meaning of|what is meant by"
    r"|what is an?|(?:what is )?(?:the )?difference (?:between|of)|how (?:is|are|do you|does))?"
    r"(?P<weak>(?:what|who) (?:is|are|was))? ?(?:the |a |an |this |that )*(?P<term>.+?)"
    r"(?P<closing> (?:means?|stands? for|is|are|(?:calculated|computed|measured|defined)|compute|"
    r"calculate|measure|work|worked out))?(?: (?:exactly|here|then|to me|simply|like .+|in .+|next to .+))*"
)


def read_follow_up(text: str, situation: Situation, *, vocabulary: Vocabulary) -> Intent | None:
    """Return what is said about runs or this program; None for what may be an evaluation.

    Deterministic, without a model, and in time proportional to the text. An empty text asks for
    help. What names both an agent and a domain is left to the reader of evaluations, and so is
    anything that may answer an open question.

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
    tokens = tokens_of(text, _phrases(), vocabulary.domains, situation.registered)
    if {"agent", "domain"} <= {token.kind for token in tokens}:
        return None
    found = _read(tokens) or _by_clauses(tokens) or _vague(tokens) or _general(tokens)
    return None if situation.question is not None and isinstance(found, Ask) else found


def _is(token: Token, kind: str) -> bool:
    if kind == "courtesy":
        return token.text in COURTESIES
    return token.kind == kind or (token.kind == "word" and token.text in _words(kind))


@cache
def _words(kind: str) -> frozenset[str]:
    return frozenset(_CLASSES.get(kind, kind).split())


@cache
def _phrases() -> re.Pattern[str]:
    listed = {word for kind in _CLASSES for word in _words(kind)} | COURTESIES
    joined = sorted((word for word in listed if "_" in word), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(joined).replace('_', ' ')})\b")


def _read(tokens: Sequence[Token]) -> Intent | None:
    """Return what tokens mean as a whole."""
    while tokens and tokens[0].text in _NO_OPENING and tokens[0].text not in COURTESIES:
        tokens = tokens[1:]
    frame = next((frame for frame in _FRAMES if frame.fits(tokens)), None)
    several = "run number" if frame and frame.intent == "compare" else "agent"
    named = [token.kind for token in tokens if token.kind not in ("word", "end", "measure", *several.split())]
    if len(named) != len(set(named)):
        return None
    found = _made(frame.intent, tokens) if frame is not None else _about(tokens)
    if isinstance(found, Why | Compare | Help | Smalltalk):
        return found
    return _explained(tokens, strong=found is not None) or found


def _made(intent: str, tokens: Sequence[Token]) -> Intent | None:
    """Make the intent of a frame that fits."""
    run_id = _text(tokens, "run") or _text(tokens, "domain")
    inner = [token for token in tokens if token.text not in _NO_OPENING]
    sentences = sum(token.kind == "end" and token.text[0] in ".!?;" for token in tokens[:-1])
    if intent in ("repeat", "resume", "cancel") and sentences:
        return None
    if intent in ("failures", "results") and inner[0].text in ("run", "play", "test", "try", "evaluate"):
        return None
    if intent in ("status", "results", "failures"):
        about = {"status": Status, "results": Results, "failures": Failures}[intent]
        return about(run_id=run_id)
    if intent == "smalltalk":
        return _smalltalk(tokens)
    if intent == "why":
        task_id = _text(tokens, "task") or _text(tokens, "number")
        trial = _text(tokens, "trial")
        return Why(run_id=_text(tokens, "run"), task_id=task_id, domain=_text(tokens, "domain"))
    if intent == "cancel":
        return Cancel(run_id=run_id, everything=any(_is(t, "all") or _is(t, "runs") for t in tokens))
    if intent == "repeat":
        return _repeat(tokens)
    if intent == "resume":
        return Repeat(intent="repeat_changed", run_id=run_id, which="missing")
    if intent == "compare":
        return _compare(tokens)
    if intent == "export":
        return _export(tokens, run_id)
    if intent == "answer":
        return Ask(question="Nothing was asked that this could answer. What shall I do?")
    return Help() if intent == "help" else ListThings(
        what=intent, domain=_text(tokens, "domain"), split=_text(tokens, "split")
    )


def _text(tokens: Iterable[Token], kind: str) -> str | None:
    return next((token.text for token in tokens if token.kind == kind), None)


def _smalltalk(tokens: Sequence[Token]) -> Intent | None:
    kinds: tuple[Courtesy, ...] = ("goodbye", "thanks", "greeting")
    kind = next((kind for kind in kinds if any(_is(token, kind) for token in tokens)), "other")
    if kind == "other" and any(token.kind == "end" and "?" in token.text for token in tokens):
        return None
    return Smalltalk(kind=kind)


def _repeat(tokens: Sequence[Token]) -> Intent | None:
    numbers = ("num_trials", "num_tasks", "seed", "max_concurrency", "max_steps")
    said = {kind: value for kind in numbers if (value := _text(tokens, kind)) is not None}
    agents = tuple(token.text for token in tokens if token.kind == "agent")
    try:
        changes = Changes.model_validate(
            {**said, "agents": agents or None, "domain": _text(tokens, "domain")}
        )
    except ValidationError:
        return Ask(question="A number in that cannot be used. Which one is meant?", code="bad-number")
    failed = any(_is(token, "fails") for token in tokens)
    if failed and not _selects_failed(tokens):
        return None
    return Repeat(
        intent="repeat_changed" if failed or changes != Changes() else "repeat",
        run_id=_text(tokens, "run"),
        which="failed" if failed else "all",
        changes=changes,
    )


def _selects_failed(tokens: Sequence[Token]) -> bool:
    """Tell "the failed ones" and "what failed" from "it failed"."""
    at = next(at for at, token in enumerate(tokens) if _is(token, "fails"))
    before, after = tokens[at - 1 : at], tokens[at + 1 : at + 2]
    selecting = ("the", "all", "only", "just", "what", "which", "that", "repeat", "did", "tasks")
    return any(_is(token, kind) for token in before for kind in selecting) or any(
        _is(token, "tasks") for token in after
    )


def _compare(tokens: Sequence[Token]) -> Intent | None:
    run_ids = tuple(token.text for token in tokens if token.kind in ("run", "number"))
    fits = len(run_ids) <= 2 and _text(tokens, "num_runs") in (None, "2")
    return Compare(run_ids=run_ids) if fits else None


def _export(tokens: Sequence[Token], run_id: str | None) -> Intent:
    same = {"md": "markdown", "opentelemetry": "otlp", "xml": "junit"} | dict.fromkeys(
        ("html", "webpage", "web_page", "link"), "page"
    )
    named = {same.get(token.text, token.text) for token in tokens if _is(token, "formats")}
    if len(named) > 1:
        return Ask(question=f"One format at a time: {' or '.join(sorted(named))}?")
    return Export(run_id=run_id, format=named.pop() if named else "report")


def _about(tokens: Sequence[Token]) -> Intent | None:
    """Read a list of tasks about a topic: "tasks about baggage", "the baggage tasks of airline"."""
    listing = next(frame for frame in _FRAMES if frame.intent == "tasks")
    start = next((at for at, token in enumerate(tokens) if _is(token, "about")), len(tokens))
    topic = [token for token in tokens[start + 1 :] if token.kind != "end"]
    before = listing.unplaced(tokens[:start])
    if not topic:
        end = next((at for at, token in enumerate(tokens) if _is(token, "problems")), 0)
        topic, before = before, [t for t in before if t not in tokens[max(0, end - 3) : end]]
    rest = [token for token in tokens if token not in topic and not _is(token, "about")]
    if before or not topic or not listing.fits(rest) or not any(_is(t, "what") or _is(t, "show") for t in rest):
        return None
    while len(topic) > 1 and (topic[-1].kind in ("domain", "split") or _is(topic[-1], "glue")):
        rest.append(topic.pop())
    if any(token.kind != "word" or _is(token, "constraint") or _is(token, "fails") for token in topic):
        return None
    about = " ".join(_spelled(topic)).removeprefix("the ")
    return ListThings(
        what="tasks", domain=_text(rest, "domain"), split=_text(rest, "split"), about=about
    )


def _spelled(tokens: Iterable[Token]) -> Iterator[str]:
    for token in tokens:
        joined = token.kind == "word" and _phrases().fullmatch(token.text.replace("_", " "))
        text = token.text.removeprefix(BUILTIN_PREFIX)
        if token.kind != "end":
            yield text.replace("_", " ") if joined else text


def _explained(tokens: Sequence[Token], *, strong: bool) -> Intent | None:
    """Read the question what a term means; `strong` asks for a wording that can mean nothing else."""
    inner = [token for token in tokens if token.text not in COURTESIES]
    kinds = ("number", "task", "trial", "run", "share")
    if any(token.kind in kinds or token.text.startswith("http") for token in inner):
        return None
    match = _TERM.fullmatch(" ".join(_spelled(inner)))
    if match is None or ((match["strong"] or "").startswith("how") and not match["closing"]):
        return None
    if not (match["strong"] or (match["weak"] and not strong)):
        return None
    term = match["term"].split()
    known = any(_is(t, "field") or not t.text.isalpha() for t in inner if t.text in term)
    if any(t.kind == "agent" for t in inner) and len(term) > _LONGEST_NAME:
        return None
    if len(term) > _LONGEST_TERM or not (known or match["strong"]):
        return None
    return Explain(term=match["term"])


def _by_clauses(tokens: Sequence[Token]) -> Intent | None:
    """Read a message of several clauses, of which one may say something and the others nothing."""
    found: list[Intent] = []
    asides: list[Sequence[Token]] = []
    for clause in _clauses(tokens):
        intent = _read(clause)
        if intent is None:
            asides.append(clause)
        elif intent not in found:
            found.append(intent)
    wishes = [intent for intent in found if not isinstance(intent, Smalltalk)] or found[:1]
    if any(isinstance(intent, Why) for intent in wishes):
        wishes = [intent for intent in wishes if not isinstance(intent, Failures)]
    strict = any(isinstance(intent, Repeat | Cancel) for intent in wishes)
    if not wishes or not all(_is_aside(clause, strict=strict) for clause in asides):
        return None
    if len(wishes) > 1:
        return Ask(question="These are several wishes. Which one shall I do first?")
    return wishes[0]


def _clauses(tokens: Sequence[Token]) -> list[list[Token]]:
    clauses: list[list[Token]] = [[]]
    for token in tokens:
        if _is(token, "reason"):
            clauses.append([])
        clauses[-1].append(token)
        if token.kind == "end":
            clauses.append([])
    return [clause for clause in clauses if any(token.kind != "end" for token in clause)]


def _is_aside(clause: Sequence[Token], *, strict: bool) -> bool:
    """Tell whether a clause only gives a reason: no name, number, wish or condition is in it.

    Where nothing is played or stopped (not `strict`), it may also say that nothing should be.
    """
    words = [token for token in clause if token.kind != "end" and token.text not in COURTESIES]
    if not words or (not strict and all(_is(token, "reading") for token in words)):
        return True
    if any(token.kind != "word" for token in words):
        return False
    ended = clause[-1].kind == "end" and clause[-1].text[0] in ".!"
    opens = _is(words[0], "aside") or _is(words[0], "reason") or (ended and not strict)
    barred = ("constraint", *(("wish", "change", "cancel", "repeat", "resume") if strict else ()))
    return opens and not any(_is(token, kind) for token in words[1:] for kind in barred)


def _vague(tokens: Sequence[Token]) -> Intent | None:
    """Ask about a repetition of which something is not understood."""
    words = [token for token in tokens if token.kind != "end" and token.text not in COURTESIES]
    if not words or any(token.kind in ("agent", "num_tasks") for token in tokens):
        return None
    if len(words) > 1 and words[1].text == "not":
        return None
    again = any(_is(token, kind) for token in words for kind in ("again", "repeat", "same"))
    if not again or not any(_is(words[0], kind) for kind in ("do", "again", "repeat", "same")):
        return None
    frame = next(frame for frame in _FRAMES if frame.intent == "repeat")
    quoted = " ".join(_spelled(frame.unplaced(tokens)))
    return Ask(question=f"The same again, but what does {quoted!r} change? {_CHANGEABLE}")


def _general(tokens: Sequence[Token]) -> Intent | None:
    """Read questions on how something is done here, and wishes that belong elsewhere."""
    words = [token for token in tokens if token.kind != "end"]
    if all(token.text in COURTESIES for token in words):
        return Smalltalk()
    if any(token.kind not in ("word", "number", "share") for token in words):
        return None
    terms = {t.text for t in words if _is(t, "terms") or (_spelled_oddly(t) and t.kind == "word")}
    if len(terms) == 1 and any(_is(token, "mean") or _is(token, "what") for token in words):
        return Explain(term=terms.pop())
    if any(_is(token, kind) for token in words for kind in _words("ours")):
        asked = any(_is(token, "asking") for token in words)
        return Help() if asked else None
    english = [t for t in words if any(_is(t, kind) for kind in ("glue", "what", "wish", "courtesy"))]
    opens = _is(words[0], "what") or _is(words[0], "glue") or words[0].text in COURTESIES
    orders = len(words) > 1 and _is(words[1], "glue")
    plain = all(token.text.isascii() for token in words) and any(_foreign(token) for token in words)
    return OffTopic() if plain and len(english) > 1 and (opens or orders) else None


def _foreign(token: Token) -> bool:
    return not any(_is(token, kind) for kind in ("courtesy", *_CLASSES))


def _spelled_oddly(token: Token) -> bool:
    return not token.text.isalpha() and not _phrases().fullmatch(token.text.replace("_", " "))
