"""Turns instructions to a user ("You want to ...") into what that user says ("I want to ...").

Works by English grammar alone: pronouns, verb forms, imperatives. A sentence that does not become
a plain statement, such as a stage direction, becomes None and is never spoken.
"""

from __future__ import annotations

import re
from typing import Final

AGENT: Final = r"(?:the |an? )?(?:customer )?(?:service |support )?agent"
"""The words by which instructions name whom the user talks to."""
_BREAK: Final = re.compile(
    r"(?<!\bi\.e\.)(?<!\be\.g\.)(?<!\b[A-Z][a-z]\.)(?:(?<=[.!?])|(?<=[.!?][)'\"]))\s+(?=[A-Z#\"'(.])"
    r"|;\s+(?=[A-Z])|\n\s*\n|(?<!,)\n(?=\s*[A-Z])"
)
_TASKS: Final = (  # what customers want done: an imperative of these is a wish
    r"(?:add|apply|book|buy|cancel|change|check|choose|create|delete|downgrade|drop|exchange|find"
    r"|fix|get|keep|mark|modify|move|order|pay|purchase|push|rebook|receive|refund|remove|reorder"
    r"|request|reschedule|return|see|sell|send|switch|transfer|undo|update|upgrade|use)"
)
_STAGE_VERBS: Final = (  # what a player of a customer is told: an imperative of these is not
    r"(?:abruptly|accept|act|admit|agree|always|answer|appear|avoid|be|become|begin|claim|complain"
    r"|confirm|continue|convince|correct|decline|describe|do|don't|end|ensure|explain|express|focus"
    r"|follow|forget|give|go|ground|ignore|insist|let|lie|make|mention|never|note|offer|play|pretend"
    r"|proceed|provide|refuse|reject|remain|remember|reply|respond|reveal|say|share|show|sound"
    r"|speak|start|state|stay|stick|stop|suddenly|suggest|swear|take|talk|tell|thank|threaten|try"
    r"|under no|volunteer|wait|write)\b(?!:)(?<!do not)"
)
_LEAD: Final = r"(?:(?:also|and|but|finally|first|instead|lastly|next|otherwise|so|then|well),? )*"
_ADVERBS: Final = r"(?:(?:[a-z]+ly|also|either|first|instead|just|not|now|still|then) )*"
_NEEDS_A_POINT: Final = (
    r"(?:(?:only |even )?(?:after|before|if|once|when|whenever|unless)"
    r"|as|at|because|by|for|from|in|on|since|with|without)\b"
)
_WANTING: Final = (
    r"(?:want|wish|wonder|would|prefer|intend|use|are (?:fine|happy|ok|okay|willing))\b"
)
_STATEMENT: Final = re.compile(
    rf"{_LEAD}(?:(?:you|your|it|its|this|that|the|there|they|he|she|a|all|any|both|due|each|except"
    r"|no|now|one|some|whether)\b|[a-z]+(?: [a-z]+){0,3}: ?\S"
    r"|(?:\S+ ){1,5}?(?:is|are|was|were|has|have|had|can|will|would|should|must|needs?)\b)",
    re.I,
)
_SAID: Final = re.compile(  # "tell the agent that X", "you say X": what is said is X
    rf"(?:^|.*\b(?:and|by) ){_LEAD}(?:you )?{_ADVERBS}(?:(?:claim|explain|insist|mention|say|state)"
    rf"(?:ing)?|tell {AGENT})(?: to {AGENT})?(?: explicitly)?(?: that (?=[a-z])| (?=(?:it|there|you)\b))",
    re.I,
)
_ASK: Final = rf"\bask(?: {AGENT}| it| them)?(?: explicitly)?"
_TOLD: Final = (  # what the user is to do towards the agent, as what it wants of the agent
    (rf"{_ASK}(?: for)? (?=about|how|if|what|whe|which|who|why)", "want to know "),
    (rf"\bask (?:{AGENT}|them) (?:explicitly )?to ", "want AGENT to "),
    (rf"{_ASK} for ", "want "),
    (r"\bask to ", "want to "),
    (rf"\btell {AGENT} not to ", "do not want AGENT to "),
    (rf"((?:^|, ){_LEAD})(?:you )?(?:first )?try to (?!get )", r"\1want to "),
    (r"^go (?:for|with) ", "choose "),
    (r"\bwant to (?:want|make sure) (?=to )", "want "),
    (r"\bwant to want (?=an? )", "want "),
    (
        r"\b(?:(?:do not|don't) (?:want|like)|prefer not|would rather not|will not|won't)(?: to)?"
        r" (?:disclose|give|mention|provide|reveal|share) ",
        "would rather not give ",
    ),
    (r"\b(?:are )?contact(?:ing)? customer (?:service|support) ", "are calling "),
    (r"^(after|before|once) they (?=.*AGENT)", r"\1 AGENT "),
    (rf"\b(sure|that) {AGENT} (\w+)s ", r"\1 AGENT \2 "),
    (rf"\b{AGENT}(?='s\b| (?:can|cannot|could|may|might|should|will|would)\b)", "AGENT"),
    (
        rf"\b(by|for|from|let|like|need|through|to|want|with) {AGENT}\b(?=[.,;]| (?!asks?\b|\w+s ))",
        r"\1 AGENT",
    ),
)
_NOT_SPOKEN: Final = re.compile(
    r"\b(?:insist\w*|persist\w*|persua\w+|mention\w*|reveal(?:ed|ing)?|pretend\w*|volunteer\w*"
    r"|admit\w*|make up|made up|meant to|abrupt\w*|sudden\w*|incorrect|circumstances?|tool"
    r"|conversation|customer service|tactics?|make sure|(?:the|service|if|an) agent"
    r"|the user(?! (?:account|address|default|id|profile))|respon(?:d|ds|se|ses)|repl(?:y|ies)|speak"
    r"|communicat\w+|improvise|confusing|swear|story|persona|guess a|carry on|will (?:see|come up)"
    r"|get (?:it|AGENT) to|asked for|can (?:also )?want|try(?:ing)? to (?:get|make)"
    r"|(?:do not|don't|never) (?:accept it|ask|do|give|let|offer|process|provide|say|share|tell))\b",
    re.I,
)
_SECRET: Final = re.compile(
    r"\([^()]*\b(?:do not|don't) (?:mention|reveal|share|tell)(?!.* (?:if|unless|when) )"
)
_OBJECT_AFTER: Final = (
    r"about|allows?|ask(?:s|ed)?|assure|by|call|charged?|compensate|costs?|for|from|gave|gets?|gives?"
    r"|informs?|of|offers?|on|owe|refunds?|remind|saves?|send|sent|shows?|tells?|to|told|transfer"
    r"|upgrade|wants?|with"
)
_BARE_INFINITIVE: Final = r"have|helps?|lets?|made|makes?"
_AFTER_OBJECT: Final = (
    r"an?|about|and|as|at|because|by|for|from|how|if|in|just|most|not|on|or|so|that|the|to|what"
    r"|when|whether|which|who|why|with"
)
_VERBAL: Final = (
    r"\w+ed|also|are|bought|can|could|did|do|don't|get|got|had|have|just|like|made|need|only|own"
    r"|prefer|recently|sent|should|want|were|will|would"
)
_FORMS: Final = {"yours": "mine", "yourself": "myself", "your": "my", "yourselves": "ourselves"}
_AGREEMENT: Final = (
    (r"\bI( \w+ly| also| both| just| really| now)? are\b", r"I\1 am"),
    (
        r"(\bI\b[^.]*? (?:and|but)) are (?=(?:fine|happy|in|not|ok|willing|\w+ly|\w+ant)\b)",
        r"\1 am ",
    ),
    (r"\bI're\b", "I'm"),
    (r"\bI( just| also)? were\b", r"I\1 was"),
    (r"\bI aren't\b", "I am not"),
    (r"\bI weren't\b", "I wasn't"),
    (r"\bare I\b", "am I"),
    (r"\b(I'm\b.*) and that (?=I)", r"\1 and "),
    (r"^I am (?=[A-Z][\w'-]+ [A-Z][\w'-]+(?:[.,;(]|$))", "My name is "),
)


def sentences(text: str | None) -> list[str]:
    """The sentences of a text; the lines of a list belong to the sentence before them."""
    plain = (text or "").replace("’", "'").replace("###", "")
    plain = re.sub(r"\s*\n\s*[-*] ", ", ", re.sub(r":\s*\n\s*[-*] ", " ", plain))
    found = (" ".join(part.split()).lstrip(". ") for part in _BREAK.split(plain))
    return [part for part in found if re.search(r"\w", part)]


def statement(sentence: str) -> str | None:
    """The sentence as the user says it, in the first person; None where it is not to be said.

    A direction at its end is cut off ("..., and insist on it"); "tell the agent that X" and
    "ask the agent to X" become X and a wish; so does an imperative such as "cancel the order".
    """
    if _SECRET.search(sentence):
        return None
    text = _SAID.sub("", sentence, count=1)
    for pattern, replacement in _TOLD:
        text = re.sub(pattern, replacement, text, flags=re.I)
    for aside in re.findall(r"\s*\([^()]*\)?", text):
        if re.search(rf"\b(?:{AGENT}|only provide|mistake)\b", aside) or _NOT_SPOKEN.search(aside):
            text = text.replace(aside, "")
    text = _swap_person(_main_clauses(text)).replace("AGENT's", "your").replace("AGENT", "you")
    text = text.strip(" ,;:.")
    if not text or _NOT_SPOKEN.search(text):
        return None
    return f"{text[0].upper()}{text[1:]}{'' if text[-1] in '!?' else '.'}"


def _main_clauses(text: str) -> str:
    """The text up to its first direction, imperatives of a customer made wishes; may be empty."""
    text = re.sub(rf"^{_LEAD}", lambda lead: lead[0].replace(",", ""), text, flags=re.I)
    text = re.sub(r",? (?:and|but|so) (?:agree|do not do|don't process|swear)\b.*", "", text)
    kept: list[str] = []
    has_point = False
    for clause in re.split(r"(?<=[,;]) (?![^{(]*[})])", re.sub(r" [-—] ", ", ", text)):
        lead, rest = re.fullmatch(rf"({_LEAD})(.*)", clause, re.I).groups()  # type: ignore[union-attr]
        if re.match(rf"{_ADVERBS}(?:only )?{_TASKS}\b", rest, re.I):
            if not (has_point and re.search(rf"\b{_WANTING}", " ".join(kept))):
                doer = "AGENT " if re.match(rf"{_TASKS} you (?:to|in|on)\b", rest, re.I) else ""
                rest = f"you want {doer}to {rest[0].lower()}{rest[1:]}"
        elif re.match(rf"{_ADVERBS}{_WANTING}", rest, re.I):
            rest = rest if has_point and not re.match("so|otherwise", lead) else f"you {rest}"
        elif (
            re.match(_STAGE_VERBS, rest, re.I)
            and not re.match(r"do(?: not|n't) (?:care|have|know|need|want)\b", rest, re.I)
            or has_point
            and _NOT_SPOKEN.search(rest)
        ):
            break
        kept.append(lead + rest)
        has_point = has_point or _makes_a_point(rest)
    return " ".join(kept) if has_point else ""


def _makes_a_point(clause: str) -> bool:
    """Whether it is a statement by itself, and not only what comes before one ("If so,")."""
    if re.match(_NEEDS_A_POINT, clause, re.I):
        return bool(re.search(rf"\w+ \w+ (?:you|it) {_ADVERBS}{_WANTING}", clause, re.I))
    return bool(_STATEMENT.match(clause))


def _swap_person(text: str) -> str:
    """The second person made the first; slips such as "You name is Ada" are mended."""
    slip = r"^You(?= (?!guess|hope|know|think|want|wish|wonder)(?:[a-z]+ ){1,2}(?:is|are) )"
    text = re.sub(slip, "Your", text)
    pronoun = re.compile(
        r"(?:(\w+) )?\b(you(?:r(?:s|self|selves)?)?)\b(?=(?: ([\w']+))?(')?)", re.I
    )
    text = pronoun.sub(_first_person, text)
    for pattern, replacement in _AGREEMENT:
        text = re.sub(pattern, replacement, text)
    return text


def _first_person(found: re.Match[str]) -> str:
    """The first person of one "you" or "your": a subject unless it stands as an object does."""
    before, form, after, contracted = (part or "" for part in found.groups())
    verb, after = before.lower(), after.lower()
    if form.lower() != "you":
        own = _FORMS[form.lower()]
    elif contracted or not verb:
        own = "I"
    elif not after or re.fullmatch(_BARE_INFINITIVE, verb):
        own = "me"
    elif re.fullmatch(_VERBAL, after) or not re.fullmatch(rf"{_OBJECT_AFTER}|{_TASKS}", verb):
        own = "I"
    else:
        own = "me" if re.fullmatch(_AFTER_OBJECT, after) else "my"
    return f"{before} {own}" if before else own
