"""Lexicon: the words that the reader of evaluations knows.

A word that is in none of these lists, and is no name, number or part of a phrase, is unknown: the
plan is shown with it and confirmed, or the request is refused.
"""

from __future__ import annotations

import re
from functools import cache

from adk_agent.requests.spelling import is_slip


def words(text: str) -> frozenset[str]:
    """Split a text into a set of words."""
    return frozenset(text.split())


HARMLESS = words("""
    a an the this that these those my mine our your her their i we you u he she it they them
    em me us who is be am are was were been will would can could may might shall should must do did
    done have has had get let there here

    on in at of for to by from with w against over through as and plus so into among between across
    out along beside beneath via up down also now because since x k n

    evaluate eval evaluation assess assessment test check benchmark bench run play try score measure
    measurement grade judge rate take give begin start launch execute use make perform performance
    handle cope fare pass solve see show tell know find look need want wish like help go gimme hit
    throw fire put pit settle compare comparison report call name think believe guess wonder expect
    curious interest worry matter work stand land tackle face mind understand reproduce replicate
    please kindly thank thx pls plz hello hi hey ok okay yo um uh well dear good morning right
    alright just simply quick quickly basically really very fine enough overall which what how
    whether where why versus vs v better best win winner race beat ahead head differ difference worse
    apart separately alone together new own one suppose live learn decide prove

    agent bot assistant chatbot endpoint server address url service system purple model domain suite
    a2a conversation result number figure success sanity smoke setup summary plan goal
    request bundled builtin built full whole complete entire everything anything boss colleague
    client vendor board somebody everybody something quality skill reliability student
    interview say claim love appreciate grateful include contain establish
    afternoon evening day cheers ta lol possible necessary behave manage achieve reach set someone
    estimate simulate target yes
""")
"""Words, in their base form, that change nothing about a plan."""

_ENDINGS = (("ies", "y"), ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"), ("es", ""), ("s", ""))
_LONG = 7
"""Letters of a word from which on a slip of the keys leaves it recognisable."""
_SHORT_FORM = re.compile(r"'(?:s|d|m|ll|re|ve)$")


@cache
def is_harmless(word: str) -> bool:
    """Tell whether a word in lower case, or its base form, changes nothing about a plan."""
    if word in HARMLESS:
        return True
    word = _SHORT_FORM.sub("", word)
    bases = [word, *(word.removesuffix(end) + new for end, new in _ENDINGS if word.endswith(end))]
    bases += [base[:-1] for base in bases if base[-1:] == base[-2:-1]]  # "running"
    return any(base in HARMLESS for base in bases if len(base) > 1 or base == word) or any(
        is_slip(word, known) for known in HARMLESS if len(known) >= _LONG
    )


def is_known(word: str) -> bool:
    """Tell whether the reader knows a word in lower case."""
    return word in LIMITS or is_harmless(word)


CONSTRAINTS = words("""
    except excepting excluding exclude unless until till if or either without skip skipping leave
    leaving omit avoid drop unlike otherwise respectively alternately

    least approximately approx roughly nearly almost half third fraction remaining
    remainder random randomly shuffle shuffled double etc tba tbd harder hardest easier easiest
    trickier trickiest simplest toughest longest shortest worst nasty

    nightly hourly daily weekly monthly schedule scheduled weekday weekdays budget timeout
    split splits subset seed seeds turns trial trials solo shard concurrency concurrent
    dos
""")
"""Words that narrow, widen or change a plan. One of them that no phrase placed is refused."""

AMOUNTS = words("""
    some few several many any various couple lots plenty bunch percent handful more most less fewer
    all other another first last final latest previous next similar different hard easy simple
    difficult tricky tough max min maximum minimum
""")
"""Words that change a plan right before tasks, domains, agents or numbers. They are refused there."""

QUALIFIERS = words("""
    quarter only solely merely exactly again repeat same both then when while whenever however though
    although times once twice hour hours minute minutes seconds per each apiece focus focusing
    restrict limited limit limits than latter former offline under above below forth share else
    every tonight tomorrow later weekend weekends euro euros dollar dollars usd eur cent cents
    deadline step steps parallel but

    not no never none nothing nobody cannot neither nor instead rather ignore ignoring forget don't
    doesn't didn't won't can't shouldn't isn't aren't wouldn't sorry actually meant mean scratch oops
    correction wait assume prompt prompts stop stops stopping quit abort pause send sends post email
    mail upload publish push notify forward store register delete overwrite install download fetch
    pretend weight weighted bonus threshold temperature
""")
"""Words that change a plan in a clause with agents, domains, tasks or numbers. They are refused
there, and elsewhere they are as unknown as others."""

LIMITS = CONSTRAINTS | AMOUNTS | QUALIFIERS | words("about around")

BENCHMARKS = words("""
    agentbench agentharm agentsafetybench appworld asb assistantbench bfcl browsergym cybench gaia
    gpqa gsm8k harmbench hellaswag humaneval injecagent livebench mbpp mind2web miniwob mmlu mt-bench
    osworld owasp strongreject swe swebench terminal-bench theagentcompany toolbench toolemu
    toolsandbox webarena webshop workarena
""")
"""Benchmarks of others. One that is not installed is refused by its name."""

GENERIC_NOUNS = words("""
    task tasks taks tsaks scenario scenarios problem problems instance instances sample samples
    case cases question questions piece pieces
""")
"""Nouns that people use for tasks of any domain."""
AGENT_NOUNS = words("""
    agent bot assistant candidate contender system service endpoint server chatbot team
""")
CONDITIONS = words("""
    with using for on in at through during by without under over via as from before after between
    against until if when where while and
""")
"""Words with which a condition may begin."""
TRIAL_NOUNS = words("""
    trial trials trails run runs repeat repeats repetition repetitions attempt attempts try tries
    times rounds go goes rollouts
""")
COMPARING = words("""
    compare compares comparing comparison better best versus vs v against which who wins win stronger
    ahead beats beat whether race head differ differs difference worse
""")
"""Words that make a choice of agents (`A or B?`) a comparison of both."""
FOREIGN = words("""
    bitte mit und auf für von den dem das der aus ein eine einen je aber ohne nur sur avec pour et
    les des une dans sans s'il veuillez con y para por favor los las una sin solo com em por uma não
    sem il lo di su dieci een met op en niet voor keer na z se ve için på och med ki ko ke de la el
    le du die
""")
"""Frequent words of other languages in Latin script."""

UNITS: list[str] = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen",
)
TENS: list[str] = re.findall(r"\w+", "twenty thirty forty fifty sixty seventy eighty ninety")
MULTIPLIERS = {"dozen": 12, "hundred": 100, "thousand": 1000}
NUMBER_WORDS = (
    {word: value for value, word in enumerate(UNITS)}
    | {word: 10 * value for value, word in enumerate(TENS, 2)}
    | {"fourty": 40}
    | MULTIPLIERS
)
