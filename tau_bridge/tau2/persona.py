"""Persona: what a task's instructions make a user want, know and do, ready to be spoken."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from tau_bridge.tau2.first_person import AGENT, sentences, statement
from tau_bridge.tau2.tasks import Instructions

_IDENTITY: Final = {  # a topic, the words that ask for it, and the words or shapes that answer
    "name": (r"\bnames?\b|who are you", r"\bname\b|\bcalled\b|\bI(?:'m| am) [A-Z]"),
    "user id": (
        r"(?:user|customer|your)[\w ]*\bids?\b|user ?name|account|which cust",
        r"[a-z]_\d|user id",
    ),
    "email address": (r"e-?mail", r"\S@\S|e-?mail"),
    "zip code": (r"\bzip|\bpost(?:al|code)", r"\bzip|(?<![#\w-])\d{5}(?![\w-])"),
    "phone number": (r"telephone|(?:phone|mobile)[\w ]* number", r"phone number|\d{3}-\d{3,4}"),
    "address": (
        r"(?<!mail )address|\b(?:city|state|street|country|location|where .*(?:live|you))\b",
        r"(?<!mail )address\b|\bliv(?:e|ing)\b|\bresid|\bmoved|\babroad|\bhome\b|\bfrom [A-Z]",
    ),
}
_TOPICS: Final = _IDENTITY | {
    "order": (
        r"order|reservation|confirm\w* (?:num|id|code)|booking",
        r"\border|reserv|confirm|#\w*\d",
    ),
    "birthday": (r"birth|\bdob\b", r"birth|\bDOB\b"),
    "payment": (r"\bpay|\bcard|refund|charge|method", r"\bpay|[Cc]ard|refund|certificate|voucher"),
    "date": (
        r"\b(?:date|when|day|depart|time)",
        r"\b[A-Z][a-z]{2,8} \d|\d[ap]m\b|\bdays?\b|-\d\d-|\bdate",
    ),
    "reason": (r"\breasons?\b|\bwhy\b", r"\bbecause\b|\bsince\b|mistake|no longer|\breason|due to"),
    "baggage": (r"\bbag|luggage|suitcase", r"\bbag|luggage|suitcase"),
    "cabin": (r"\bcabin|\bclass\b", r"economy|business|\bclass\b|\bcabin"),
    "flight": (r"flight|route|destination|origin|airport", r"flight|\b[A-Z]{3}\b|\bfly\b|trip\b"),
    "wish": (
        r"item|product|option|size|material|variant|prefer|help you",
        r"\b(?:want|wish|prefer)|\{",
    ),
}
_ASKING: Final = re.compile(
    r"\?|\bplease (?!hold|wait|be )[a-z]|\bi(?:'ll| will)? need (?:you|to know)|let me know|tell me|yes.no",
    re.I,
)
_CONFIRMING: Final = re.compile(
    r"\bconfirm(?!\w* (?:num|id|code))|\bproceed\b|\bgo ahead\b|\bis (?:that|this) (?:right|correct|ok)"
    r"|\b(?:want|like) me to\b|\b(?:shall|should) (?:i|we)\b|\byes\W+(?:or )?no\b|agree\b|are you sure",
    re.I,
)
_NEGATIVE: Final = re.compile(
    r"\b(?:not|cannot|no|unable|never|refus\w+|den(?:y|ies))\b|n't\b", re.I
)
_NO_CONTENT: Final = re.compile(
    r"about|after|agents?|agree|allow|also|and|any|are|been|before|but|can(?:not)?|confirm|could|do(?:es)?"
    r"|each|for|from|gives?|had|has|have|help|her|his|how|into|its|know|like|many|may|me(?:ntions?)?|more"
    r"|much|need|not|offers?|one|only|other|our|please|possible|provides?|says?|should|some|such|tells?"
    r"|than|that|the\w*|this|those|use|user|very|want|was|what|when|which|who|will|with|would|yes|you\w*"
)
_ASKED: Final = re.compile(
    rf"(?:if|when)\b.*?\b(?:{AGENT} (?:\w+ly )?(?:asks?|wants?)|asked)\b([^,]*), (?:then )?(.+)",
    re.I,
)
_TOLD: Final = re.compile(rf"(?:if|when|once)\b[^,]*?\b{AGENT} ([^,]+), (?:then )?(.+)", re.I)
_LATER: Final = re.compile(
    r"(?:only )?(?:after|once|halfway|in the middle)\b.*?, (?:then )?(?:you \w+ decide that )?(.+)",
    re.I,
)
_STYLE: Final = (
    r"I(?:'m| am) (?!(?:\w+ )?(?:fine|happy|looking|not|ok|okay|open|willing)\b)|I like to |My app"
)
_WISH: Final = (
    r"(?:\w+,? )?I(?:'d| would|'m| am)? (?:(?:also|now|then|first|still|really) )*"
    r"(?:want|need|like|wish|looking)\b(?! (?:any|no|to (?:be|fly|minimize|pay|stay|use|first use)) )"
)
_REFUSED: Final = re.compile(
    r"\b(?:(?:do not|don't|not) (?:accept|ask|need|want)|never|under no circumstances)(?: do| will)?"
    r"(?: you)?(?: want)?(?: to)? ((?:(?!\b(?:if|unless|until|without|other)\b)[^.;,(])+)",
    re.I,
)


class _Reaction(NamedTuple):
    """What is said once, where the agent asks or says a certain thing; "" is to accept it."""

    when_asked: bool
    what: str
    say: str


class Persona:
    """One user, by the instructions of its task.

    Attributes:
        opening: The reason for the call.
        wishes: What it wants beside, in order; whoever speaks for it takes them off.
    """

    def __init__(self, instructions: Instructions) -> None:
        self._reactions: list[_Reaction] = []
        self._refused: list[tuple[str, str]] = []
        self.wishes: list[str] = []
        reason = self._read(instructions.reason_for_call)
        self._known = self._read(instructions.known_info)
        self._unknown = self._read(instructions.unknown_info)
        told = self._read(instructions.task_instructions)
        # How it is to talk is no fact.
        told = [said for said in told if not re.match(_STYLE, said) or re.search("want|need", said)]
        wishes = [said for said in told if re.match(_WISH, said) and not _NEGATIVE.search(said)]
        self.wishes = wishes + self.wishes
        self._more = reason + told
        self._preferences = [said for said in told if said not in wishes and said[:3] != "If "]
        self.opening = " ".join(reason) or (self.wishes.pop(0) if self.wishes else "Hello.")

    def react(self, heard: str) -> str | None:
        """What its instructions make it say to this; "" where they make it accept; else None."""
        for reaction in self._reactions:
            if _fits(reaction, heard):
                self._reactions.remove(reaction)
                return reaction.say
        return None

    def answer(self, heard: str) -> str:
        """What it answers to a question: agreement, what it knows, or that it does not know."""
        question = asking(heard)
        topics = _topics(question)
        if _CONFIRMING.search(question) and not re.search(
            r"(?:confirm|verify)\W+your", question, re.I
        ):
            return self._agree(question, topics)
        identity = [topic for topic in topics if topic in _IDENTITY]
        said = [fact for topic in topics for fact in self._facts(topic)]
        if not identity:
            everything = self._known + self._unknown + self._more
            said += [fact for fact in everything if _content(question) & _content(fact)]
        said += [f"I don't know my {topic}." for topic in identity if not self._facts(topic)]
        self.wishes = [wish for wish in self.wishes if wish not in said]
        return " ".join(dict.fromkeys(said)) or "I don't know more than I have told you."

    def _agree(self, question: str, topics: Sequence[str]) -> str:
        words = _content(question)
        for what, said in self._refused:
            if any(
                _content(part) and _content(part) <= words for part in re.split(r"\bor\b", what)
            ):
                return f"No. {said}".strip()
        noted = [said for said in self._preferences if any(_tells(said, topic) for topic in topics)]
        self._preferences = [said for said in self._preferences if said not in noted]
        return " ".join(["Yes.", *noted])

    def _facts(self, topic: str) -> list[str]:
        """What is known, and what is known not to be known, of a topic."""
        known, more = (
            [said for said in facts if _tells(said, topic)] for facts in (self._known, self._more)
        )
        unknown = [said for said in self._unknown if re.search(_TOPICS[topic][0], said, re.I)]
        return (known or more if topic in _IDENTITY else known + more) + unknown

    def _read(self, text: str | None) -> list[str]:
        """What a part of the instructions makes it say; reactions and later wishes are kept."""
        found: list[str | None] = []
        for sentence in sentences(text):
            for part in re.split(
                rf",? ?(?:and |but )?(?=(?:if|when) {AGENT})", sentence, flags=re.I
            ):
                said = statement(part)
                if condition := _ASKED.match(part) or _TOLD.match(part):
                    said = self._conditional(condition)
                elif refused := _REFUSED.search(part):
                    self._refused.append((refused[1], said or ""))
                elif later := _LATER.match(part):
                    said = None
                    self.wishes += [wish for wish in [statement(later[1])] if wish]
                found.append(said)
        return [said for said in found if said]

    def _conditional(self, condition: re.Match[str]) -> str | None:
        """Keep what is to be said where the agent asks or says a thing; what has no such thing."""
        what, then = condition[1].strip(), re.sub(r"\s*\([^()]*\)", "", condition[2])
        accepts = re.match(r"(?:just )?(?:you )?(?:accept|end the|move on|thank)", then)
        said = "" if accepts else _reply(then)
        if said is not None and what:
            self._reactions.append(_Reaction(condition.re is _ASKED, what, said))
        return None if what else said


def asking(heard: str) -> str:
    """The sentences that want an answer; "" where none does."""
    return " ".join(part for part in sentences(heard) if _ASKING.search(part))


def _fits(reaction: _Reaction, heard: str) -> bool:
    """Whether the agent has just asked or said what calls for this reaction."""
    question, words = asking(heard), _content(reaction.what)
    if reaction.when_asked:
        if "confirm" in reaction.what:
            return bool(_CONFIRMING.search(question))
        if set(_topics(reaction.what)) & set(_topics(question)):
            return True
    elif _NEGATIVE.search(reaction.what) and not _NEGATIVE.search(heard):
        return False
    there = words & _content(question if reaction.when_asked else heard)
    return bool(words) and 2 * len(there) >= len(words)


def _reply(then: str) -> str | None:
    """What is said where a condition holds: a statement, or the thing that is to be named."""
    then = re.sub(
        r"^(?:suddenly )?(?:you )?change your mind and |, then correct yourself.*", "", then
    )
    then = re.sub(r"(?: first| initially)?\.?$", "", then)
    named = re.fullmatch(
        r"(?:you )?(?:give|mention|provide|say) (?!that |you )((?:the )?\S+(?: \S+)?)", then
    )
    return f"It is {named[1]}." if named else statement(then)


def _topics(text: str) -> list[str]:
    return [topic for topic, (asked, _) in _TOPICS.items() if re.search(asked, text, re.I)]


def _tells(said: str, topic: str) -> bool:
    return re.search(_TOPICS[topic][1], said) is not None


def _content(text: str) -> frozenset[str]:
    """The words of a text that say something, cut to what their forms have in common."""
    words = (
        word for word in re.findall(r"\w{3,}", text.lower()) if not _NO_CONTENT.fullmatch(word)
    )
    return frozenset(re.sub(r"(?:ing|ed|es|s)$", "", word)[:5] for word in words)
