"""Persona: what a task's instructions make a user want, know and do, ready to be spoken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tau_bridge.tau2.first_person import AGENT, sentences, statement
from tau_bridge.tau2.tasks import Instructions

_IDENTITY: Final = {  # a topic, the words that ask for it, and the words or shapes that answer
    "name": (r"\bnames?\b|who are you", r"\bname\b|\bcalled\b|\bI(?:'m| am) [A-Z]"),
    "user id": (
        r"(?:user|customer|member|account|profile|your)[\w ]*\bids?\b|user ?name|your account"
        r"|which customer",
        r"\b[a-z]+(?:_[a-z]+)*_\d+\b(?!@)|user id",
    ),
    "email address": (r"e-?mail", r"\S@\S|e-?mail"),
    "zip code": (r"\bzip|\bpost(?:al|code)", r"\bzip|(?<![#\w-])\d{5}(?![\w-])"),
    "phone number": (r"telephone|(?:phone|mobile)[\w ]* number", r"phone number|\d{3}-\d{3,4}"),
    "address": (
        r"(?<!mail )\b(?:address|city|state|street|country|location)|where .*\b(?:live|you)\b",
        r"(?<!mail )\baddress\b|\bliv(?:e|ing)\b|\bresid|\bmoved|\babroad|\bhome\b|\bfrom [A-Z]",
    ),
    "reservation id": (
        r"\b(?:reservation|confirmation|booking|trip)",
        r"reservation|confirmation|booking",
    ),
}
_TOPICS: Final = _IDENTITY | {
    "order": (r"\border", r"\border|#\w*\d"),
    "birthday": (r"birth|\bdob\b", r"birth|\bDOB\b"),
    "payment": (
        r"\bpay|\bcards?\b|\brefund|\bcharge|method",
        r"\bpay|[Cc]ard|\brefund|certificate|voucher",
    ),
    "date": (
        r"\b(?:dates?|when|days?|depart\w*|times?)\b",
        r"\b[A-Z][a-z]{2,8} \d|\d[ap]m\b|\bday\b|-\d\d-|\bdate",
    ),
    "reason": (r"\breasons?\b|\bwhy\b", r"\bbecause\b|\bsince\b|mistake|no longer|\breason|due to"),
    "baggage": (r"\bbag|luggage|suitcase", r"\bbag|luggage|suitcase"),
    "cabin": (r"\bcabin|\bclass\b", r"economy|business|\bclass\b|\bcabin"),
    "flight": (r"flight|route|destination|origin|airport", r"flight|\b[A-Z]{3}\b|\bfly\b|trip\b"),
    "wish": (
        r"\bitems?\b|product|option|size|material|variant|prefer|help you|would you like to",
        r"\bI (?:\w+ )*(?:want|wish|need|prefer)|\boption|\{",
    ),
}
_ASKING: Final = re.compile(
    r"\?|\bplease (?:confirm|enter|give|let|provide|share|specify|state|tell|type|verify)\b"
    r"|\bi(?:'ll| will)? need (?:you|to know)|\blet me know\b|\btell me\b",
    re.I,
)
_CONFIRMING: Final = re.compile(
    r"\bconfirm|\bproceed\b|\bgo ahead\b|\bis (?:that|this) (?:right|correct|ok)|\bwant me to\b"
    r"|\blike me to\b|\b(?:shall|should) (?:i|we)\b|\byes\W{1,4}(?:or )?no\b|\bagree\b|\bare you sure",
    re.I,
)
_NEGATIVE: Final = re.compile(
    r"\b(?:not|cannot|no|unable|never|refus\w+|den(?:y|ies))\b|n't\b", re.I
)
_NO_CONTENT: Final = re.compile(
    r"about|after|agents?|agree|allow|also|any|are|been|before|can(?:not)?|confirm|could|did|do(?:es)?"
    r"|each|for|from|gives?|had|has|have|help|her|his|how|into|its|know|like|may|me(?:ntions?)?|more|need"
    r"|not|offers?|one|only|other|our|please|possible|provides?|says?|should|some|such|sure|tells?|than"
    r"|that|the\w*|this|those|use|user|very|want|was|what|when|which|who|will|with|would|yes|you\w*"
)
_ASKED: Final = re.compile(
    rf"(?:and |but )?(?:if|when|whenever)\b.*?\b(?:{AGENT} (?:\w+ly )?(?:asks?|wants?)|asked)\b"
    r"(?P<what>[^,]*), (?:then )?(?P<then>.+)",
    re.I,
)
_TOLD: Final = re.compile(
    rf"(?:and |but )?(?:if|when|once)\b[^,]*?\b{AGENT} (?P<what>[^,]+), (?:then )?(?P<then>.+)",
    re.I,
)
_LATER: Final = re.compile(
    r"(?:only )?(?:after|once|halfway|in the middle|at the end)\b.*?, (?:then )?"
    r"(?:you (?:suddenly )?decide that )?(?P<then>.+)",
    re.I,
)
_STYLE: Final = re.compile(
    r"I(?:'m| am) (?!(?:\w+ )?(?:fine|happy|looking|not sure|ok|okay|open|willing)\b)"
    r"|I (?:like to|\w+ly) |My approach"
)
_WISH: Final = re.compile(
    r"(?:\w+,? )?I(?:'d| would|'m| am)? (?:(?:also|now|then|first|still|really) )*"
    r"(?:want|need|like|wish|looking)\b(?! (?:any|no|to (?:be|fly|minimize|pay|stay|use|first use)) )"
)
_REFUSED: Final = re.compile(
    r"(?:\b(?:do not|don't|never|not)|under no circumstances) (?:(?:do|will) you )?"
    r"(?:accept|ask|need|want|will)?(?: to)? ?(?P<what>(?:(?!\b(?:if|unless|until|without|other)\b)[^.;,(])+)$",
    re.I,
)


@dataclass(frozen=True)
class Heard:
    """What a user makes of one text of the agent."""

    text: str

    @property
    def asking(self) -> str:
        """The sentences that want an answer."""
        return " ".join(part for part in sentences(self.text) if _ASKING.search(part))

    @property
    def confirms(self) -> bool:
        """Whether agreement is asked for."""
        return bool(_CONFIRMING.search(self.asking) or re.search(r"yes\W+no\b", self.text, re.I))


@dataclass(frozen=True)
class _Reaction:
    """What a user says once, where the agent asks or says a certain thing; "" is to accept it."""

    what: str
    when_asked: bool
    say: str

    def fits(self, heard: Heard) -> bool:
        """Whether the agent has just asked or said it."""
        words = _content(self.what)
        if self.when_asked and "confirm" in self.what:
            return heard.confirms
        if self.when_asked and not set(_topics(self.what)).isdisjoint(_topics(heard.asking)):
            return True
        if not self.when_asked and _NEGATIVE.search(self.what) and not _NEGATIVE.search(heard.text):
            return False
        there = _content(heard.asking if self.when_asked else heard.text)
        return bool(words) and 2 * len(words & there) >= len(words)


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
        told = [
            said
            for said in self._read(instructions.task_instructions)
            if not _STYLE.match(said) or re.search(r"\b(?:want|prefer|need)\b", said)
        ]
        wishes = [said for said in told if _WISH.match(said) and not _NEGATIVE.search(said)]
        self.wishes = wishes + self.wishes
        self._more = reason + told
        self._preferences = [
            said for said in told if said not in wishes and not said.startswith("If")
        ]
        self.opening = " ".join(reason) or (self.wishes.pop(0) if self.wishes else "Hello.")

    def react(self, heard: Heard) -> str | None:
        """What its instructions make it say to this; "" where they make it accept; else None."""
        for reaction in self._reactions:
            if reaction.fits(heard):
                self._reactions.remove(reaction)
                return reaction.say
        return None

    def answer(self, heard: Heard) -> str:
        """What it answers to a question: agreement, what it knows, or that it does not know."""
        topics = _topics(heard.asking)
        if heard.confirms and not re.search(r"\b(?:confirm|verify)\W+your\b", heard.asking, re.I):
            return self._agree(heard, topics)
        identity = [topic for topic in topics if topic in _IDENTITY]
        said = self._facts(topics)
        if not identity:
            words = _content(heard.asking)
            said += [
                fact for fact in self._known + self._unknown + self._more if words & _content(fact)
            ]
        said += [f"I don't know my {topic}." for topic in identity if not self._facts([topic])]
        self.wishes = [wish for wish in self.wishes if wish not in said]
        return " ".join(dict.fromkeys(said)) or "I don't know more than I have told you."

    def _agree(self, heard: Heard, topics: Sequence[str]) -> str:
        words = _content(heard.asking)
        for what, said in self._refused:
            if any(
                _content(part) and _content(part) <= words for part in re.split(r"\bor\b", what)
            ):
                return f"No. {said}".strip()
        noted = [said for said in self._preferences if _answers(said, topics)]
        self._preferences = [said for said in self._preferences if said not in noted]
        return " ".join(["Yes.", *noted])

    def _facts(self, topics: Iterable[str]) -> list[str]:
        """What is known, and what is known not to be known, of these topics."""
        found: list[str] = []
        for topic in topics:
            known = [said for said in self._known if _answers(said, [topic])]
            more = [said for said in self._more if _answers(said, [topic])]
            found += (known or more) if topic in _IDENTITY else known + more
            found += [said for said in self._unknown if re.search(_TOPICS[topic][0], said, re.I)]
        return found

    def _read(self, text: str | None) -> list[str]:
        """What a part of the instructions makes it say; reactions and later wishes are kept."""
        found: list[str] = []
        for sentence in sentences(text):
            for part in re.split(rf", (?:and |but )?(?=(?:if|when) {AGENT})", sentence):
                said = statement(part)
                condition = _ASKED.match(part) or _TOLD.match(part)
                if condition is not None:
                    said = self._conditional(condition)
                elif refused := _REFUSED.search(part):
                    self._refused.append((refused["what"], said or ""))
                elif later := _LATER.match(part):
                    self.wishes += [wish for wish in [statement(later["then"])] if wish]
                    said = None
                found += [said] if said else []
        return found

    def _conditional(self, condition: re.Match[str]) -> str | None:
        """Keep what is to be said where the agent asks or says a thing; what has no such thing."""
        what, then = condition["what"].strip(), re.sub(r"\s*\([^()]*\)", "", condition["then"])
        accepts = re.match(r"(?:just )?(?:you )?(?:accept|end the|move on|thank)", then)
        said = "" if accepts else _reply(then)
        if said is not None and what:
            self._reactions.append(_Reaction(what, condition.re is _ASKED, said))
        return said if not what else None


def _reply(then: str) -> str | None:
    """What is said where a condition holds: a statement, or the thing that is to be named."""
    then = re.sub(
        r"^(?:suddenly )?(?:you )?change your mind and |,? (?:and )?(?:then )?correct yourself.*",
        "",
        then,
    )
    then = re.sub(r"(?: first| initially)?\.?$", "", then)
    named = re.fullmatch(
        r"(?:you )?(?:give|mention|provide|say) (?!that\b|you\b)((?:the )?\S+(?: \S+)?)", then
    )
    return f"It is {named[1]}." if named else statement(then)


def _topics(text: str) -> list[str]:
    """The topics that a question names, in a fixed order."""
    return [topic for topic, (asked, _) in _TOPICS.items() if re.search(asked, text, re.I)]


def _answers(said: str, topics: Iterable[str]) -> bool:
    return any(re.search(_TOPICS[topic][1], said) for topic in topics)


def _content(text: str) -> frozenset[str]:
    """The words of a text that say something, cut to what their forms have in common."""
    words = (
        word for word in re.findall(r"\w{3,}", text.lower()) if not _NO_CONTENT.fullmatch(word)
    )
    return frozenset(re.sub(r"(?:ing|ed|es|s)$", "", word)[:5] for word in words)
