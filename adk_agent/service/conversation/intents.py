"""understand: the small, closed grammar of greetings and follow-ups.

A message is a follow-up only where *all* of it is one: courtesies at both ends are taken away, and
what is left has to match a form as a whole. Everything else is a request for an evaluation, which
others read. So "stop" stops, and "stop after five shop tasks" does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache


class Intent(StrEnum):
    """The purposes of greetings and follow-ups."""

    GREETING = "greeting"
    HELP = "help"
    STATUS = "status"
    FAILURES = "failures"
    REASONS = "reasons"
    REPORT = "report"
    RERUN_FAILED = "rerun-failed"
    REPEAT = "repeat"
    RESUME = "resume"
    CANCEL = "cancel"


@dataclass(frozen=True, kw_only=True)
class FollowUp:
    """A message that is about this conversation; `run_id` where it names a run."""

    intent: Intent
    run_id: str | None = None
    everything: bool = False
    """True if it means all runs, not only the latest."""


MAX_LENGTH = 200
"""Characters. A longer message wants more than a follow-up can say."""

_RUN_ID = re.compile(
    r"(?:\b(?:of|for|from|in) )?(?:\b(?:the )?(?:run|evaluation) )?\b([0-9]{8}-[0-9]{6}-[0-9a-f]{6})\b"
)
_SHORT_FORMS = {
    r"\bwhat's\b": "what is", r"\bhow's\b": "how is", r"\bwhere's\b": "where is",
    r"\bit's\b": "it is", r"\bi'd\b": "i would", r"\blet's\b": "let us", r"\bdidn't\b": "did not",
    r"\bhasn't\b": "has not", r"\bisn't\b": "is not", r"\baren't\b": "are not",
    r"\bre-(?=\w)": "re", r"\bpls\b": "please", r"\bthx\b": "thanks", r"\bwhich's\b": "which is",
}  # fmt: skip
_QUOTES = str.maketrans("‘’ʼ`", "''''")
_CLOSED = re.compile(r"[^\w\s'-]+|(?<!\w)['-]|['-](?!\w)")

_EVERYTHING = re.compile(r"\b(?:all|everything|(?:evaluation|run|task|test|job)s)\b")

_BEFORE = re.compile(
    r"(?:please|ok|okay|well|so|now|and|then|hey|hi|hello|thanks|thank you|great|good|fine|yes|yeah|"
    r"alright|just|quickly|actually|greenroom|(?:can|could|would|will) you(?: please)?|"
    r"(?:can|could|may) (?:i|we)|i (?:want|would like)(?: you)? to|let us|let me|"
    r"do you know|tell me|i want to know|also) "
)
_AFTER = re.compile(
    r"(?: (?:please|now|right now|thanks|thank you|for me|so far|yet|currently|at the moment|then|"
    r"already|by now|today|greenroom))+"
)

_MERE_COURTESY = "hello"

_THING = r"(?:evaluation|run|task|assessment|test|benchmark|job|process)s?"
_RUN = (
    r"(?:it|this|that|them|everything|"
    rf"(?:all )?(?:(?:the|this|that|my|our|your) )?(?:(?:last|latest|previous|current|running|earlier|recent|interrupted|stopped|canceled) )?{_THING})"
)
_OF = rf"(?: (?:of|for|on|with|from|in) {_RUN})?"
_SHOW = r"(?:(?:show|list|give|send|print|display|get|fetch|see|view|open)(?: me| us)? )?"
_LOST = r"(?:failed|failing|failures?|fails|unsuccessful|missed|lost|not passed|unpassed|broken|bad|wrong)"
_ONES = r"(?:ones?|trials?|tasks?|cases?|conversations?|tests?)"
_THAT_FAILED = (
    r"(?:failed|fail|broke|(?:did|were|have|has) not pass(?:ed)?|went wrong|was lost|were lost)"
)
_FAILED_ONES = (
    rf"(?:(?:only |just )?(?:(?:all|all of|those|these|the|its|my|your|every|any) )*"
    rf"(?:{_LOST}(?: {_ONES})?|{_ONES} (?:that|which) {_THAT_FAILED})|"
    rf"(?:only |just )?(?:what|whatever|everything that|those that|the ones that) {_THAT_FAILED})"
)
_AGAIN = r"(?:again|once more|another time|one more time|anew|over|over again|a second time)"

_FORMS: dict[Intent, tuple[str, ...]] = {
    Intent.GREETING: (
        r"(?:hi|hello|hey|hallo|howdy|greetings|yo|moin)(?: (?:there|greenroom|agent|all|everyone|world))?",
        r"good (?:morning|afternoon|evening|day)",
        r"how are you(?: doing)?",
        r"are you there|is (?:anyone|anybody|someone) there|ping",
        r"(?:thanks|thank you|cheers|great|nice|cool|ok|okay|perfect|good)(?: (?:a lot|very much|so much|job|work))?",
        r"(?:good)?bye|see you",
    ),
    Intent.HELP: (
        r"help(?: me)?|usage|commands|manual|instructions|examples?|info|about",
        r"(?:show|give)(?: me)? (?:help|the help|(?:an |some )?examples?|instructions|the manual)",
        r"i need (?:some )?help",
        r"what (?:all )?(?:can|do|could) you do(?: for (?:me|us))?",
        r"(?:what|who) are you|what is (?:this|greenroom)|introduce yourself",
        r"how (?:do|can|should|would) (?:i|we) (?:use|talk to|work with|call) (?:you|this|it|greenroom)",
        r"how do(?:es)? (?:you|this|it|greenroom) work",
        r"what (?:can|should|do|could) i (?:send|ask|say|write|type|do)(?: (?:you|to you|here))?",
        r"what are your (?:skills|capabilities|abilities|commands|options)",
        r"(?:how (?:do|can|should) (?:i|we) )?(?:get started|start|begin)",
        r"how (?:do|can|should) (?:i|we) (?:start|run|request) (?:an|a|one) evaluation",
        r"how (?:do|can|should) (?:i|we) (?:evaluate|test|assess) (?:an|my|our) agents?",
        r"(?:which|what) (?:domains|benchmarks) (?:do you (?:have|know|support|offer)|are there|can you play)",
    ),
    Intent.STATUS: (
        rf"{_SHOW}(?:(?:the|your|any|its|current) )*(?:status|progress|state)(?: report| update)?{_OF}",
        rf"{_RUN} (?:status|progress)",
        rf"what is (?:the |its |your )?(?:current )?(?:status|progress|state){_OF}",
        rf"how far (?:along )?(?:are you|are we|is {_RUN}|have you (?:got|gotten|come))(?: along)?",
        rf"how is {_RUN} (?:going|doing|coming along|progressing|getting on)",
        r"how (?:are you|is everything) (?:coming along|getting on|progressing|going)",
        (
            r"how (?:long|much longer|many (?:more )?(?:seconds|minutes|hours))"
            rf"(?: (?:will (?:it|this|that) take|does it (?:still )?take|is left|are left|to go|(?:un)?till? {_RUN} is (?:done|finished|over)))?"
        ),
        r"how much (?:longer|is left|remains|time is left|is done)",
        rf"(?:is|are|has|have) (?:you|{_RUN}) (?:still )?(?:done|finished|ready|running|complete|completed|over|working|through)",
        r"are you still (?:running|working|there|at it|busy)",
        r"(?:is there )?any (?:news|progress|updates?)",
        r"(?:give me an |an )?updates?(?: me)?",
        r"where (?:are you|are we|do (?:we|you|things) stand|does it stand)",
        r"what (?:are you doing|is happening|is going on|is left|is missing)",
        rf"when (?:will|is) (?:you|{_RUN})(?: be)? (?:done|finished|ready|over|complete)",
        (
            r"how many (?:(?:of the )?(?:trials|tasks) )?(?:(?:are|have been|have|were|did) )?"
            r"(?:done|left|played|passed|pass|finished|remain|remaining|completed|missing)"
        ),
    ),
    Intent.FAILURES: (
        rf"{_SHOW}{_FAILED_ONES}{_OF}",
        rf"{_SHOW}(?:what|which|where)(?: {_ONES})? (?:(?:are|were) {_LOST}|{_THAT_FAILED})",
        rf"which (?:ones|of them) (?:{_THAT_FAILED}|(?:are|were) {_LOST})",
        r"what went wrong|where did (?:it|they|the agent) fail",
        rf"did (?:anything|something|any(?: {_ONES})?) (?:fail|break|go wrong)",
        rf"how many (?:{_ONES} )?(?:failed|did not pass|were lost)",
        rf"(?:are|were) there (?:any )?{_LOST}(?: {_ONES})?",
    ),
    Intent.REASONS: (
        r"why|how come|why not|why is that|reasons?",
        (
            rf"(?:why|how come)(?: did| has| have)? (?:{_RUN}|they|those|these|some(?: of them)?|the agents?|the trials?|"
            rf"the tasks?|{_FAILED_ONES})(?: not)? (?:fail(?:ed)?|pass(?:ed)?|break|broke|end(?:ed)?|lose|lost|stop(?:ped)?)"
        ),
        r"why (?:so|that|this) (?:many (?:failures|fails)|low|bad|poor)",
        r"why (?:is|was) (?:it|the (?:score|result|pass rate)) (?:so )?(?:low|bad|poor|zero)",
        r"why (?:did|do|does) (?:it|they|the agent) (?:fail|not pass|score so low)",
        rf"why the (?:failures?|low score)|explain {_FAILED_ONES}{_OF}",
        (
            r"what (?:is|was|are|were) the (?:reasons?|causes?|problems?|errors?)"
            rf"(?: (?:for|of|behind|with) (?:{_FAILED_ONES}|{_RUN}|that))?"
        ),
        rf"what (?:caused|causes|is behind) (?:{_FAILED_ONES}|{_RUN}|that)",
        rf"{_SHOW}(?:the )?(?:reasons?|causes?|errors?)(?: (?:for|of|behind) (?:{_FAILED_ONES}|{_RUN}))?",
    ),
    Intent.REPORT: (
        (
            rf"{_SHOW}(?:(?:the|my|your|its|our|final|latest|last|previous|(?:full|complete|whole) (?=rep|res|sum)) ?)*"
            rf"(?:reports?|results?|scores?|summary|outcomes?|figures|numbers){_OF}(?: {_AGAIN})?"
        ),
        rf"what (?:is|was|are|were) (?:the |its |your |my )?(?:final )?(?:reports?|results?|scores?|summary|outcomes?){_OF}",
        rf"how did (?:{_RUN}|they|the agents?|my agents?) (?:do|go|perform|score|end|fare)",
        r"what did (?:it|they|the agents?|my agent) score",
        rf"summari[sz]e (?:{_RUN}|the results?|the report)",
        r"what came out(?: of (?:it|that))?|did (?:it|they|the agents?) pass",
    ),
    Intent.RERUN_FAILED: (
        rf"(?:run|try|play|test|evaluate|start|do|repeat) {_FAILED_ONES} {_AGAIN}{_OF}",
        rf"(?:rerun|retry|redo|replay|repeat|retest|restart|reevaluate) {_FAILED_ONES}{_OF}(?: {_AGAIN})?",
        rf"{_AGAIN} (?:with |but )?(?:only |just )*{_FAILED_ONES}",
        rf"(?:another|a new|one more) (?:run|try|go|attempt) (?:of|at|for|with|on) {_FAILED_ONES}",
    ),
    Intent.REPEAT: (
        rf"{_AGAIN}",
        rf"(?:run|try|play|test|evaluate|start|do) (?:(?:{_RUN}|all|all of it|the same|the same thing) )?{_AGAIN}",
        rf"(?:rerun|retry|redo|replay|repeat|retest|restart)(?: (?:{_RUN}|all|all of it|the whole thing))?(?: {_AGAIN})?",
        r"(?:run )?the same(?: thing)? again",
    ),
    Intent.RESUME: (
        rf"(?:resume|continue|finish|complete)(?: with)?(?: {_RUN})?",
        rf"(?:go|carry|keep) on(?: with {_RUN})?|keep going|proceed(?: with {_RUN})?",
        (
            r"(?:resume|continue|go on|carry on|pick up)(?: (?:it|there))? "
            r"(?:where|from where) (?:you|it|we) (?:left off|stopped|were|ended)"
        ),
        r"finish what you (?:started|began)|(?:finish|complete|do|play|run) the (?:rest|remainder)",
        rf"(?:run|play|finish|complete) the (?:remaining|missing|rest of the|left|interrupted) {_ONES}",
    ),
    Intent.CANCEL: (
        rf"(?:cancel|stop|abort|kill|halt|terminate|end|quit|interrupt)(?: (?:{_RUN}|all|all of (?:it|them)|at once|immediately))?",
        rf"(?:stop|quit|cease) (?:running|working|evaluating|testing|playing)(?: {_RUN})?",
        r"never ?mind|forget it",
    ),
}


def understand(text: str) -> FollowUp | None:
    """Return what a follow-up or a greeting wants; None for all else. An empty text asks for help.

    Deterministic and without a model; takes time in proportion to the text, of which at most
    `MAX_LENGTH` characters are looked at.
    """
    if len(text) > MAX_LENGTH:
        return None
    plain = _plain(text)
    named = _RUN_ID.findall(plain)
    if len(named) > 1:
        return None
    run_id = named[0] if named else None
    said = " ".join(_RUN_ID.sub(" ", plain).split())
    if not text.strip():
        return FollowUp(intent=Intent.HELP)
    for wording in _without_courtesies(said):
        for intent, form in _grammar():
            if form.fullmatch(wording):
                everything = _EVERYTHING.search(wording) is not None
                return FollowUp(intent=intent, run_id=run_id, everything=everything)
    return None


def _plain(text: str) -> str:
    """Lower case, no punctuation, no short forms, single spaces."""
    lowered = text.lower().translate(_QUOTES)
    for short, long in _SHORT_FORMS.items():
        lowered = re.sub(short, long, lowered)
    if re.search(r"[{}\[\]<>/@#=\\]", lowered):
        return lowered  # an address, JSON or markup: no form has such
    return " ".join(_CLOSED.sub(" ", lowered).split())


def _without_courtesies(said: str) -> Iterator[str]:
    """Yield the wording as it is, then without one courtesy after the other, at either end."""
    core = f"{said} " if said else ""
    while core:
        yield core.strip()
        end = next((m for m in _AFTER.finditer(core) if m.end() == len(core.rstrip())), None)
        if end is not None:
            yield core[: end.start()].strip()
        start = _BEFORE.match(core)
        if start is None:
            return
        core = core[start.end() :]
    if said:
        yield _MERE_COURTESY


@cache
def _grammar() -> tuple[tuple[Intent, re.Pattern[str]], ...]:
    return tuple(
        (intent, re.compile("|".join(f"(?:{f})" for f in forms)))
        for intent, forms in _FORMS.items()
    )
