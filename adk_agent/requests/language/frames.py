"""Frames: the grammar of follow-ups, as data.

A frame says which words a message must have, and which it may have beside them. Word order counts
only where a name or number stands beside what it names, which `phrasing` has put together before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from adk_agent.requests.intent import Listable
from adk_agent.requests.language.harmless import COURTESIES
from adk_agent.requests.language.phrasing import Token

LISTABLE: Mapping[str, Listable] = {
    "domains": "domains", "domain": "domains", "benchmarks": "domains", "benchmark": "domains",
    "agents": "agents", "bots": "agents", "teams": "teams", "team": "teams", "runs": "runs",
    "evaluations": "runs", "history": "runs", "past_runs": "runs", "metrics": "metrics",
    "metric": "metrics", "measures": "metrics", "evaluators": "evaluators",
    "evaluator": "evaluators", "tasks": "tasks", "scenarios": "tasks", "exercises": "tasks",
}  # fmt: skip
"""What can be listed, by its names in messages."""

_CLASSES = {
    "fails": """fail fails failed failing failure failures broke broken lost unsuccessful unsolved
        went_wrong go_wrong gone_wrong goes_wrong did_not_pass does_not_pass do_not_pass not_pass
        not_passed not_work did_not_work did_not_succeed not_solved mistakes did_not_manage
        not_manage get_wrong got_wrong trip_up tripped_up stumble stumbled struggle struggled""",
    "passes": "pass passes passed passing solve solved succeed succeeded correct right",
    "why": """why how_come reason reasons cause causes caused what_happened what_is_wrong
        what_was_wrong problem issue""",
    "again": """again once_more one_more_time another_time anew over_again all_over_again over
        a_second_time second_time another_round another_go another_run another_try another_attempt
        one_more_run one_more_round same_again from_scratch from_the_start""",
    "repeat": """rerun re-run repeat retry re-try redo re-do replay retest re-test restart
        reevaluate re-evaluate""",
    "do": "run do try play test start evaluate go execute launch have",
    "same": """same same_thing same_as_before exactly identical as_it_was as_before like_before
        as_is settings setup configuration way""",
    "instead": "instead this_time",
    "change": "use switch change make set increase raise lower take",
    "resume": """resume continue carry_on go_on keep_going keep_on proceed pick_up pick_it_up
        unpause go_ahead_with""",
    "finish": "finish complete do run play",
    "rest": "rest remainder remaining missing left unplayed unfinished leftover",
    "left_off": "from where you it we left_off stopped ended were was left",
    "cancel": """cancel stop abort kill halt terminate quit interrupt never_mind nevermind
        forget_it call_it_off call_off pull_the_plug end_it end_this end_the_run end_the_evaluation""",
    "doing": "running working evaluating testing playing going doing",
    "at_once": "immediately at_once straight_away here already asap",
    "all": "all everything whole entire thing lot them_all",
    "them": "it this that them those these they",
    "tight": """the that this my our your of all both last latest current previous just only
        interrupted stopped canceled cancelled""",
    "runs": "runs evaluations tests jobs assessments",
    "run": """run evaluation assessment test benchmark job process eval one runs evaluations tests
        benchmarks jobs conversation round""",
    "tasks": """task tasks trial trials case cases ones conversation conversations scenario
        scenarios""",
    "agents": "agent agents bot bots it he she they you we i",
    "prep": "with on for of against using at over to from in by but",
    "last": """last latest previous most_recent recent current running final started launched
        kicked_off""",
    "pair": "the_two the_three those_two these_two those_three",
    "glue": """the a an any some of for on in with from to at by about as it its this that them
        those these they he she there and is are was were be been has have had did do does i we me
        us my our you your all only just each per both so_far yet still already here more anything
        something one can""",
    "what": "what which who where how_many how_much how when many much",
    "show": """show find search list give print display get fetch see view open send tell read
        look bring name want need like have got pull""",
    "have": "available have know support offer exist there got come comes known use understand",
    "passive": """played play run test try use used evaluate choose pick compute computed
        calculate measure report supported built-in bundled registered installed kinds types sort
        overview names past previous earlier so_far including included tiers""",
    "status": """status progress state eta how_far how_far_along how_long how_much_longer done
        finished ready complete completed stuck hanging hung alive going coming coming_along
        where_are_we where_are_you where_do_we_stand where_do_things_stand news update updates
        still_running when_will getting_on are_we_there taking_so_long""",
    "time": """take takes taking will would be it_take left to_go until till minutes seconds hours
        longer time remaining along far report percentage expect any idea""",
    "rest_of": "left remaining missing to_go remain",
    "outcome": """result results score scores scored report summary summarise summarize outcome
        outcomes figures numbers pass_rate success_rate reward rewards verdict bottom_line came_out
        come_out how_did how_good how_well turn_out turned_out recap rate percentage average""",
    "fare": """do go perform end fare get got come out final overall full complete short brief
        quick quickly again pass together so table chart""",
    "low": """low bad poor zero wrong badly poorly 0 so many points counted counts marked count
        exactly as""",
    "explain": "explain details detail evidence excerpt transcript",
    "said": "say said says happen happened go",
    "compare": """compare compared diff comparison differ difference differences improve improved
        improvement better_or_worse better worse changed regress regressed regression""",
    "compared": """than between against versus vs or up down compared two last_two two_last
        latest_two two_latest get got gotten since last latest previous recent current running
        final prior earlier before old new last_time ago now the_two result results score scores do
        go perform show list give see look""",
    "formats": """json junit csv markdown md html page webpage web_page link otlp opentelemetry
        inspect agentbeats pdf excel xlsx xml yaml parquet""",
    "export": "export save download convert dump store produce generate create write share attach",
    "file": """file files format copy version output as into attachment disk document raw ci
        pipeline build""",
    "help": "help usage manual instructions examples example commands capabilities skills how-to",
    "helped": """who_are_you what_are_you what_is_this what_is_this_for what_is_greenroom
        get_started introduce_yourself what_you_do""",
    "wondered": "few sort thing things kind might request requests could ask say",
    "modal": "can do should could are can_you can_i can_we could_i could_we could_you",
    "told": "do ask say type send write tell",
    "used": "use used work works begin start",
    "helping": """i we you one this that to the of for me us with here greenroom does is be am
        able supposed explain things kinds kind sort all get started someone have so""",
    "greeting": """hi hello hey hallo howdy yo moin greetings good_morning good_afternoon
        good_evening good_day how_are_you are_you_there is_anyone_there ping morning""",
    "thanks": "thanks thank_you thx ty cheers appreciate appreciated grateful",
    "goodbye": "bye goodbye see_you see_you_later good_night farewell cya",
    "feeling": """great nice cool wow awesome perfect lol haha hahaha excellent wonderful amazing
        brilliant sweet good fine well_done ok okay sorry annoying slow boring sad ugh hmm oh ah
        interesting impressive stupid useless terrible awful bad disappointing meh funny love like
        happy glad pleased well neat super fantastic not_bad helpful useful hate""",
    "warm": """so very much really a lot work job you are it is this that was there everyone all
        world the i am your for helping to me my of an pretty too day soon tomorrow have got just
        today way now agent been would be these those what at_all first version fair enough meet""",
    "yes": """yes no yep yeah sure nope go_ahead please_do ok_go both first second third first_one
        second_one other option""",
    "about": """about involving involve involves concerning regarding mentioning mention mentions
        covering cover covers dealing_with deal_with deals_with related_to to_do_with
        on_the_topic_of""",
    "aside": """i we it this that the my our they there to_see to_check to_make_sure to_be_sure
        wrong""",
    "reason": "because cos bc since",
    "wish": "want need like would should must make let please whether or can could and",
    "asking": """how_to where_do_i how_do_i how_do_we how_can_i how_can_we how_would_i
        how_should_i how_does_one can_i could_i may_i can_we what_do_i what_should_i is_there_a_way
        is_it_possible is_there_an_option""",
    "terms": """unscored floor ceiling trial trials reward tier tiers seed metric evaluator
        baseline label split solo persona oracle""",
    "mean": "mean means meaning understand definition",
    "explaining": """explain define describe mean means meaning meant difference what_is_a
        what_is_an definition stands_for stand_for""",
    "explained": """between computed calculated measured defined compute calculate measure work
        worked_out exactly simply""",
    "selecting": "the all only just what which that did",
    "reading": """one how not no never need anything any new yet do start run play evaluate it
        that just to""",
    "field": """agent agents task tasks trial trials domain domains benchmark run evaluate
        evaluation test score scored unscored reward pass metric metrics evaluator floor ceiling
        baseline seed report results tier judge judged trace solo persona split step steps team
        teams failure result user simulator tested evaluated assessed greenroom a2a reference
        oracle topology mode interval model label telecom tau2""",
    "parallel": "at_a_time in_parallel at_once parallel concurrently",
    "joined": """rather_than instead_of times_each max_steps one_by_one one_at_a_time
        one_after_the_other""",
    "constraint": """not no never without except but unless if when until before after while only
        most least hardest easiest hard easy long short longest shortest random first last new old
        every each other different same tomorrow later""",
    "listed": " ".join(LISTABLE),
}  # fmt: skip
"""Words by class. An underscore joins words that stand together. A word may be of several."""

FORMATS = {
    "md": "markdown", "opentelemetry": "otlp", "xml": "junit", "html": "page", "webpage": "page",
    "web_page": "page", "link": "page",
}  # fmt: skip
"""Other names of formats."""

OPENERS = COURTESIES | {"and", "then", "but", "so"}
"""Words with which a message may open, whatever follows."""


@dataclass(frozen=True)
class Frame:
    """What a message must have, each of `needs` at least once, and what it may have beside it.

    The strings name classes, kinds of tokens, and words; `a|b` is one of the two. If `opens` is not
    empty, the first word is one of it, and none of `bars`. Names of the kinds `several` may stand
    there more than once.
    """

    intent: str
    needs: str
    allows: str = ""
    opens: str = ""
    bars: str = ""
    several: str = ""

    def fits(self, tokens: Sequence[Token]) -> bool:
        """Tell whether all the tokens have a place, and all that is needed is there."""
        first = next((t for t in tokens if not (t.kind == "end" or t.text in OPENERS)), None)
        if first and (
            is_one_of(first, self.bars) or (self.opens and not is_one_of(first, self.opens))
        ):
            return False
        return not self.unplaced(tokens) and all(
            any(is_one_of(token, need.replace("|", " ")) for token in tokens)
            for need in self.needs.split()
        )

    def unplaced(self, tokens: Sequence[Token]) -> list[Token]:
        """Return the tokens that have no place here."""
        known = f"end courtesy {self.needs.replace('|', ' ')} {self.allows}"
        return [token for token in tokens if not is_one_of(token, known)]


def is_one_of(token: Token, kinds: str) -> bool:
    """Tell whether a token is of one of the classes or kinds, or is one of the words."""
    named, listed = _kinds_and_words(kinds)
    return token.kind in named or (token.kind == "word" and token.text in listed)


@cache
def _kinds_and_words(kinds: str) -> tuple[frozenset[str], frozenset[str]]:
    named = frozenset(kinds.split())
    return named, frozenset().union(*map(words_of, named))


@cache
def words_of(kind: str) -> frozenset[str]:
    """Return the words of a class; a name that is no class stands for itself."""
    return COURTESIES if kind == "courtesy" else frozenset(_CLASSES.get(kind, kind).split())


@cache
def phrases() -> re.Pattern[str]:
    """Return what finds the words that are one token where they stand together."""
    joined = sorted((word for word in _known() if "_" in word), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(joined).replace('_', ' ')})\b")


def has_no_class(token: Token) -> bool:
    """Tell whether a token is a word that no frame knows."""
    return token.text not in _known()


@cache
def _known() -> frozenset[str]:
    return COURTESIES.union(*map(words_of, _CLASSES))


_TELLING = "glue what show run tasks agents last all"
_CHANGES = "num_trials num_tasks seed max_concurrency max_steps agent domain"
_CHANGE = _CHANGES.replace(" ", "|")
_AGAIN = (
    "them tight run again repeat same tasks all do instead prep and each per parallel old "
    f"{_CHANGES}"
)
_WHY = f"{_TELLING} fails passes low said explain domain"
_LISTING = "glue what show have domain"
_NO_ORDER = "run play test try"

FRAMES = (
    Frame("smalltalk", "thanks", "warm feeling greeting goodbye share help last"),
    Frame("help", "help", "glue show what greeting wondered"),
    Frame("help", "helped", "helping told used it"),
    Frame("help", "what|asking modal|asking told", "helping"),
    Frame("help", "how|where|asking used", "helping modal it"),
    Frame("smalltalk", "greeting|goodbye|feeling", "warm share"),
    Frame("export", "formats|export|file", f"outcome {_TELLING} export file"),
    Frame("why", "why", f"{_WHY} outcome task trial share"),
    Frame("why", "why number", f"{_WHY} outcome"),
    Frame("why", "explain fails", f"{_TELLING} task trial domain"),
    Frame("why", "task", f"{_WHY} trial", opens="what glue show explain task"),
    Frame(
        "compare", "compare", "glue what run compared agents number num_runs", several="run number"
    ),
    Frame("repeat", "repeat|again", f"{_AGAIN} change", several="agent"),
    Frame(
        "repeat", "repeat|again fails", f"{_AGAIN} what are were did", "do repeat again only just"
    ),
    Frame("repeat", f"same {_CHANGE}", _AGAIN, several="agent"),
    Frame("repeat", f"do it|that {_CHANGE}", _AGAIN, opens="do", several="agent"),
    Frame("repeat", f"instead {_CHANGE}", f"{_AGAIN} change", several="agent"),
    Frame("resume", "resume", "them tight run left_off rest tasks with"),
    Frame("resume", "finish rest", "them tight run tasks"),
    Frame("cancel", "cancel", "them tight run doing is are which at_once all"),
    Frame("failures", "fails", f"{_TELLING} pair outcome domain passes", bars=_NO_ORDER),
    Frame("status", "status", "glue what show run tasks time last domain agents doing"),
    Frame("status", "rest_of what", "glue run tasks time last doing play"),
    Frame("results", "measure was|did|got|my|our", f"{_TELLING} domain"),
    Frame("results", "outcome|passes", f"{_TELLING} fare domain", bars=_NO_ORDER),
    Frame("list", "what have run|done|played|evaluated|tested", "glue so_far", opens="what"),
    Frame("list", "listed", f"{_LISTING} passive split", opens=f"listed {_LISTING}"),
    Frame("answer", "yes|number", "glue"),
    Frame("answer", "do it"),
)
"""The frames; the first that fits counts."""

TASK_LIST = next(frame for frame in FRAMES if frame.needs == "listed")
REPEAT = next(frame for frame in FRAMES if frame.intent == "repeat")
