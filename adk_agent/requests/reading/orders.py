"""Orders: refuses texts that ask for no evaluation, or for something no evaluation may do.

The rule about injections: a text that tells the assessor to disregard its rules or earlier
instructions, to play another role, to take orders from elsewhere, to fix a result, or to give away
secrets or gold actions is refused as a whole. Nothing is played, because it is unknown which parts
were written by the person who pays for the run.
"""

from __future__ import annotations

import re

from adk_agent.requests.reading.vocabulary import Vocabulary
from adk_agent.requests.reading.words import words
from adk_agent.requests.refusal import Refusal
from tau_bridge.wording import TASK_NOUN

_ORDERS = r"(?:instructions?|rules?|polic(?:y|ies)|guidelines?|prompts?|restrictions?|constraints?)"
_EARLIER = r"(?:above|previous|prior|earlier|preceding|foregoing|before)"
_NEAR = r"[^.!?]{0,60}?"

_INJECTIONS = tuple(
    re.compile(pattern)
    for pattern in (
        (
            rf"\b(?:ignor\w+|disregard\w*|forget|override|bypass|overrule|circumvent|skip|break|violate)\b"
            rf"{_NEAR}"
            rf"\b(?:{_ORDERS}|everything|what\s+you\s+were\s+told|safeguards?|safety)\b"
        ),
        (
            rf"\b(?:ignore|disregard|forget)\s+(?:\w+\s+){{0,3}}{_EARLIER}\b"
            r"(?!\s+(?:runs?|results?|reports?|scores?|evaluations?|messages?\s+from))"
        ),
        rf"\b(?:new|real|actual|true|updated|changed)\s+(?:system\s+|secret\s+)?{_ORDERS}\b",
        r"(?:^|\n)\W*(?:system|developer|admin(?:istrator)?|root)\s*(?:prompt|message)?\s*[:>\]]",
        r"</?\s*(?:system|instructions?|assistant|request|prompt|script)\s*>",
        r"\byou\s+are\s+(?:now|no\s+longer)\b|\bfrom\s+now\s+on\s+you\b|\bsystem\s+prompt\b",
        r"\b(?:developer|maintenance|debug|god|admin|jailbreak|dan)\s+mode\b",
        r"\b(?:pretend|act\s+as\s+if|roleplay)\b",
        (
            r"\b(?:mark|counts?|treat|declare|record|label|log|register|report)\b"
            rf"{_NEAR}\bas\s+(?:a\s+|an\s+)?(?:pass|success|correct|solved|perfect|full)\w*"
        ),
        (
            r"\b(?:give|award|grant|assign|set|report|record|score|rate|grade|return|output|declare|"
            rf"make|claim|say|ensure|show|write|put|answer)\b{_NEAR}"
            r"\b(?:100\s*(?:%|percent|points)|full\s+(?:marks?|score|credit|points)|"
            r"perfect|(?:max(?:imum)?|top|highest)\s+(?:score|marks?|reward|grade|rating)|"
            r"(?:(?:pass|success)\s+rate|rewards?|score|grade)\s+(?:of|to|=|is|as)\s+"
            r"(?:[0-9.]+|one|hundred|a\s+hundred)\b|(?:10/10|5/5|1\.0|a\s+\+|an\s+a)(?!\w))"
        ),
        r"\b(?:results?|scores?|rewards?|grades?|outcomes?|rates?)\s+(?:must|should|shall|will|has\s+to|"
        r"have\s+to|needs?\s+to)\s+be\s+(?:a\s+|an\s+|at\s+least\s+)?(?:[0-9]|perfect|full|pass|high|max|"
        r"good|positive)",
        r"\b(?:do\s+not|don't|never)\s+(?:ever\s+)?(?:fail|mark\s+down|deduct|penali[sz]e)\b",
        r"\bbe\s+(?:very\s+|extra\s+)?(?:generous|lenient|kind)\b",
        r"\blet\b[^.!?]{0,40}?\b(?:win|pass|succeed)\b",
        r"\b(?:make|be)\s+sure\b[^.!?]{0,40}?\b(?:pass(?:es)?|wins?|succeeds?)\b",
        (
            r"\b(?:print|reveal|show|send|tell|give|leak|expose|include|output|share|hand|e?mail|post|"
            r"pass|provide|forward|supply|feed|"
            rf"dump|return|repeat|display)\b{_NEAR}\b(?:api[\s_-]?keys?|secrets?|passwords?|"
            r"credentials?|env(?:ironment)?\s+var\w*|gold\s+(?:\w+)|ground\s+truth|hidden|"
            r"expected\s+(?:answers?|actions?|results?)|your\s+(?:prompt|instructions|configuration))"
        ),
        (
            r"\b(?:follow|obey|execute|carry\s+out|do)\b[^.!?]{0,30}?"
            r"\b(?:instructions?|commands?|orders?|scripts?|code|what\s+(?:it|he|she|they|the\s+agent)"
            r"\s+(?:says?|tells?))\b"
        ),
        r"\brm\s+-rf\b|\bsudo\s|\bdrop\s+table\b|<\s*script\b|\$\(",
    )
)

_FOREIGN = {
    "German": "der die das den dem ein eine einen mit und auf bitte bewerte teste für aufgaben "
    "aus agenten unter alle zwei drei fünf zehn prüfe werte durch von",
    "French": "le la les un une des du sur avec et pour veuillez évaluez évaluer tâches tâche "
    "agent à deux trois cinq dix s'il vous plaît testez dans",
    "Spanish": "el la los las un una unos con y por favor evalúa evaluar pruebe tareas tarea "
    "agente en dos tres cinco diez para sobre",
    "Italian": "il lo la gli un una con e per favore valuta compiti agente su due tre cinque dieci",
}
_ENGLISH = frozenset(
    words(
        "the a an on in of and to with evaluate test run assess agent tasks task please "
        "each trials at against for my is it all two three five ten"
    )
)
_FOREIGN_WORDS_ENOUGH = 3

_OTHER_ORDER = re.compile(
    r"^\W*(?:please\s+|now\s+)?(?:(?:stop|cancel|abort|kill|list|explain|describe|delete|remove|"
    r"summari[sz]e|resume|pause)\b|(?:show|tell|give)\s+me\b(?!\s+how\s+(?:good|well))|"
    r"(?:what|when|who|why)\b(?!\s+(?:score|would|does|do\s+you\s+get))|"
    r"(?:what\s+(?:was|were|did)|which|how\s+(?:do|can|to|many\s+(?:domains|agents|tasks\s+are)))\b)"
)


_NOT_NOW = (
    (
        r"\brandom(?:ly|i[sz]ed)?\b(?!\s*(?:seed|number|generator))(?<!seed random)|\bshuffle",
        "a random choice of tasks: write how many ('five DOMAIN tasks' are a sample of all kinds, "
        "drawn by the seed) or which ('DOMAIN tasks 1, 4 and 7')",
    ),
    (
        rf"\b(?:last|final)\s+(?:[0-9]+\s+)?(?:DOMAIN\s+)?{TASK_NOUN}\b",
        "the last tasks of a domain: write their ids, for example 'DOMAIN tasks 45-49'",
    ),
    (
        r"\b(?:except|excluding|all\s+but|apart\s+from|other\s+than|without|skip(?:ping)?|"
        r"leav(?:e|ing)\s+out|exclude|omit|not|but\s+not)\s+(?:for\s+|the\s+)*"
        rf"(?:DOMAIN\s+)?(?:(?:{TASK_NOUN}|ids?|numbers?)\b\W*[0-9\[]|#\s*[0-9]|"
        rf"[0-9]+\b(?!\s*(?:DOMAIN|{TASK_NOUN}|trials?|steps?|times|at)))",
        "tasks to leave out: write the ids that are to be played",
    ),
    (
        r"\b(?:half|third|quarter)\s+(?:of|the)\b|"
        rf"\b[0-9]+\s*(?:%|percent)\s+(?:of\b|DOMAIN|{TASK_NOUN})",
        "a share of the tasks: write how many",
    ),
    (
        r"\bevery\s+(?:hour|day|night|morning|evening|week|month|monday|friday|[0-9]+\s+"
        r"(?:minutes?|hours?|days?))\b|\b(?:nightly|hourly|daily|weekly)\b"
        r"(?!\s+(?:build|version|release|image|deploy\w*|snapshot))|\bschedule\b|"
        r"\b(?:start|run|begin|evaluate|do)\s+(?:it\s+|this\s+|that\s+)?tomorrow\b",
        "a schedule: a request is played once, now",
    ),
    (
        r"\bif\b[^.!?]*\b(?:pass\w*|fails?|scor\w+|goes|works|succeed\w*|reward|above|below|"
        r"better|worse)\b[^.!?]*\b(?:then|also|run|evaluate|continue|proceed|play|add|go\s+on)"
        r"\b|\bunless\b",
        "a condition: send one request, look at its report, and send the next",
    ),
    (
        r"\b(?:easy|easiest|hard|hardest|difficult|simple|simplest|longest|shortest)\s+"
        rf"(?:DOMAIN\s+)?(?:{TASK_NOUN}|ones)\b",
        "tasks by difficulty: write how many, or their ids",
    ),
    (
        r"\b(?:time-?out|temperature|budget|deadline)\b\s*(?:of|is|=|:|to|at)?\s*"
        r"[$€]?\s*[0-9][0-9.,]*(?<![.,])"
        r"(?:\s*(?:ms|s|sec|seconds?|min|minutes?|hours?|h)\b)?|"
        r"\b(?:max(?:imum)?|at\s+most|up\s+to)\s+[0-9]+\s+turns?\b",
        "this setting: a sentence may set trials, seed, steps, concurrency, split, solo, scoring and "
        "the user's model; more goes into JSON",
    ),
    (
        r"\bshard\s+#?[0-9]+",
        "shards in a sentence: use JSON with shard_index (from 0) and num_shards",
    ),
)
"""Wishes that no plan can express, with words for them; DOMAIN stands for one or more domains."""
_VAGUE = (
    r"\b(?:a\s+few|few|some|several|many|a\s+handful(?:\s+of)?|a\s+bunch(?:\s+of)?|lots\s+of|"
    r"various|numerous|most)\s+(?:of\s+)?(?:the\s+)?(?:\w+\s+)?(?:DOMAIN\s+)?"
    rf"(?:{TASK_NOUN}|trials?|runs|attempts?|times)\b"
)
"""A vague amount."""
_TAKEN_BACK = (
    r"\b(?:scratch|strike|forget)\s+that\b|\bno,?\s+wait\b|\bwait,?\s+no\b|\bon\s+second\s+thought"
    r"|\bi\s+mean(?:t)?\b|\bcorrection\b|\bor\s+rather\b|\bsorry,\s+(?:[0-9]|DOMAIN)|"
    r"\bnever\s?mind\b|[,.–-]\s*no,\s|\bactually,?\s+(?:make|no|do|let)"
)
"""A retraction or correction."""


def refuse_injection(text: str, vocabulary: Vocabulary) -> None:
    """Refuse a lower-case text that gives orders about rules, results or secrets.

    Raises:
        Refusal: `injection`.
    """
    for pattern in _INJECTIONS:
        match = pattern.search(text)
        if match:
            found = " ".join(match[0].split())[:80]
            raise Refusal(
                "injection",
                f"the request contains {found!r}, an order about rules, results or secrets; "
                "nothing is played. Write only whom to evaluate and on what, for example: "
                f"{vocabulary.example}",
            )


def refuse_other_languages(text: str, vocabulary: Vocabulary) -> None:
    """Refuse a lower-case text that is clearly not in English.

    Raises:
        Refusal: `unsupported`.
    """
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text)
    english = sum(word in _ENGLISH for word in words)
    for language, common in _FOREIGN.items():
        foreign = sum(word in common.split() for word in words)
        if foreign >= _FOREIGN_WORDS_ENOUGH and foreign > english:
            raise Refusal(
                "unsupported",
                f"this seems to be {language}; sentences are read in English only: "
                f"{vocabulary.example}",
            )


def refuse_other_orders(text: str, vocabulary: Vocabulary) -> None:
    """Refuse a lower-case text that opens with a question or an order of another kind.

    Raises:
        Refusal: `not-an-evaluation`.
    """
    match = _OTHER_ORDER.search(text)
    if match:
        raise not_an_evaluation(f"it begins with {match[0].strip()!r}", vocabulary)


def not_an_evaluation(why: str, vocabulary: Vocabulary) -> Refusal:
    """Return the refusal of a text that asks for no evaluation."""
    return Refusal(
        "not-an-evaluation",
        f"this does not ask for an evaluation ({why}). Write whom to evaluate and on what, "
        f"for example: {vocabulary.example}",
    )


def refuse_unsupported(text: str, vocabulary: Vocabulary) -> None:
    """Refuse wishes that no plan can express, in a lower-case text in digits.

    Raises:
        Refusal: `unsupported`; `contradiction` for a retraction; `ambiguous` for a vague amount.
    """
    match = vocabulary.pattern(_TAKEN_BACK).search(text)
    if match:
        raise Refusal(
            "contradiction",
            f"{match[0].strip(' ,.-–')!r} takes something back: write only the final request",
        )
    for template, what in _NOT_NOW:
        match = vocabulary.pattern(template).search(text)
        if match:
            shown = what.replace("DOMAIN", vocabulary.domain)
            raise Refusal("unsupported", f"{match[0].strip()!r}: no support for {shown}")
    match = vocabulary.pattern(_VAGUE).search(text)
    if match:
        raise Refusal("ambiguous", f"{match[0]!r}: how many? Write a number")
