"""Other words for the same opening of a user: politeness around it, and introductions at its end.

Nothing is changed within a sentence, and only sentences that stand for themselves are moved: "My
user id is ada_7." means the same anywhere, "It is broken." does not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from random import Random

_GREETINGS: Final = (
    "Hello, I hope you are well.",
    "Good day, and thank you for taking my request.",
    "Hi there, sorry to bother you.",
)
_THANKS: Final = (
    "Thank you very much in advance.",
    "I would really appreciate your help.",
    "Thanks a lot for your time.",
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_INTRODUCTION: Final = re.compile(r"My (?:full )?(?:name|user id|phone number|email) is [^,;:]*[.]")


def reworded(text: str, random: Random) -> str:
    """Return an opening in other words: a greeting, the introductions last, thanks."""
    sentences = _SENTENCE_END.split(text.strip())
    introductions = [each for each in sentences if _INTRODUCTION.fullmatch(each)]
    others = [each for each in sentences if not _INTRODUCTION.fullmatch(each)]
    parts = [random.choice(_GREETINGS), *others, *introductions, random.choice(_THANKS)]
    return " ".join(parts)
