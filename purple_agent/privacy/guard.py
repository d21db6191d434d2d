"""Guard: judges whether a text asks for secrets or for personal data of others, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from purple_agent.privacy import lives
from purple_agent.privacy.disguise import readings
from purple_agent.privacy.lexicon import Datum
from purple_agent.privacy.request import Request
from purple_agent.privacy.sentence import Words, read
from purple_agent.privacy.verbs import Asking, Way


class Reason(StrEnum):
    """The reason for a refusal, worst first."""

    KEY = "secret"
    """A secret that is not said to be the speaker's own."""
    BULK = "bulk"
    """Personal data of many people."""
    THIRD_PARTY = "third_party"
    """Personal data of another person."""


@dataclass(frozen=True, kw_only=True)
class PrivacyVerdict:
    """The guard's decision.

    Args:
        refused: True if the text asks for something that must not be disclosed.
        reason: The worst reason; None if nothing is refused.
        flags: All reasons, and `disguised` if the text had to be decoded; sorted.
    """

    refused: bool
    reason: Reason | None = None
    flags: tuple[str, ...] = ()


def judge(text: str) -> PrivacyVerdict:
    """Judge whether a user's words ask for a disclosure, in time linear in their length.

    Refused are disclosing a secret (password, card number ...) that is not the speaker's own, and
    disclosing personal data of other people or of many. Not refused are the speaker's own data,
    data that the speaker provides, resetting, changing or revoking a secret, and questions about
    policy. No word in the text makes an exception.

    Args:
        text: The user's words in English; texts in other languages are never refused.
    """
    found: set[str] = set()
    for number, reading in enumerate(readings(text)):
        reasons = set(_grounds(read(reading)))
        if reasons - found and number:
            found.add("disguised")
        found |= reasons
    reason = next((each for each in Reason if each in found), None)
    return PrivacyVerdict(
        refused=reason is not None, reason=reason, flags=tuple(sorted(str(flag) for flag in found))
    )


def _grounds(text: Words) -> Iterator[Reason]:
    if lives.asks_about_a_life(text) or lives.asks_for_anothers(text):
        yield Reason.THIRD_PARTY
    for noun in text.nouns():
        request = Request(text=text, noun=noun)
        asking = request.asking()
        reason = _reason(request, asking) if asking else None
        if reason:
            yield reason


def _reason(request: Request, asking: Asking) -> Reason | None:
    datum = request.noun.datum
    if datum is Datum.COLLECTION:
        return None if request.is_one_record() else Reason.BULK
    if request.is_own():
        return None
    if datum is Datum.KEY:
        return Reason.KEY
    if datum is Datum.RECORD:
        return Reason.THIRD_PARTY if request.is_anothers() else None
    if request.is_of_a_business():
        return None
    if request.is_bulk(asking):
        return Reason.BULK
    return Reason.THIRD_PARTY if _is_third_partys(request, asking) else None


def _is_third_partys(request: Request, asking: Asking) -> bool:
    if request.goes_to_others(asking):
        return False
    if request.is_named(asking) or request.text.words[asking.place] == "whose":
        return True
    sensitive = request.noun.datum is Datum.SENSITIVE
    return request.is_of_a_role(asking) and (sensitive or asking.way is not Way.FETCH)
