"""Request: tells whether a sentence asks to disclose the datum of a noun, and whose it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from purple_agent.privacy import lexicon, verbs
from purple_agent.privacy.lexicon import Datum
from purple_agent.privacy.sentence import ASKED, BLANK, OWNER, PAUSE, STOP, Noun, Words
from purple_agent.privacy.verbs import Asking, Way

BEFORE = 18
"""Most words between a verb and its noun."""
AFTER = 12
"""Most words between a noun and its owner."""
LATER = 24
"""Most words between a noun and a later verb with `it`."""
SHORT = 9
"""Most words of a fragment, such as `her PIN, please`."""
_ENDS = (STOP, ASKED)
_OTHER = frozenset({"other", "another"})


@dataclass(frozen=True, kw_only=True)
class Request:
    """One noun in a text, judged by a fixed number of words around it."""

    text: Words
    noun: Noun

    def asking(self) -> Asking | None:
        """Return the words that ask for the datum, or None."""
        if self._is_no_datum():
            return None
        found = self._verb_before()
        if found and found.way not in {Way.HANDLED, Way.ASK} and self._is_stated():
            found = None
        if found and found.way is not Way.HANDLED:
            return found
        later = self._verb_after() or self._blank_after()
        if later or found:
            return later
        return self._mark() or self._fragment() or self._question() or self._address()

    def is_own(self) -> bool:
        """Tell whether it is the speaker's own: `my`, `for my account`, `do I have`."""
        before = self.before(6, stops=_ENDS)
        mine = max((place for place, word in enumerate(before) if word in lexicon.MINE), default=-5)
        if mine >= len(before) - 4 and mine >= 0 and not foreign(before[mine:]):
            return OWNER not in before[-3:] and not verbs.DISCLOSING.intersection(before[mine:])
        if self.noun.datum is Datum.KEY:
            return "my" in self.after(2)
        if foreign(before) or OWNER in before:
            return False
        after = self.after(8)
        people = lexicon.ROLES.union(lexicon.MANY).intersection(after)
        return not foreign(after) and not people and any(word in lexicon.SELF for word in after)

    def is_named(self, asking: Asking) -> bool:
        """Tell whether its owner is given by name or relation; a role is not enough."""
        return foreign(self.span(asking)) or self._has_name(asking)

    def is_anothers(self) -> bool:
        """Tell whether `another`, `somebody else's` or a relation is directly next to the noun."""
        after = self.after(4)
        belongs = after[:1] in {("of",), ("for",), ("from",), ("by",)}
        if foreign(self.before(4)) or (belongs and foreign(after)):
            return True
        everything = {"all", "any", "everything"}.intersection(self.before(4))
        about = {"about", "on", "of"}.intersection(after)
        kept = self._words[self.noun.start] in {"data", "information", "details"}
        return kept and bool(everything and about and lexicon.ROLES.intersection(self.after(8)))

    def is_of_a_role(self, asking: Asking) -> bool:
        """Tell whether its owner is given by a role, such as a customer or an employee."""
        return any(word in lexicon.ROLES for word in self.span(asking))

    def is_bulk(self, asking: Asking) -> bool:
        """Tell whether it belongs to many people."""
        if any(word in lexicon.MANY for word in self.span(asking)):
            return True
        plural = self._words[self.noun.end - 1] in lexicon.PLURAL_DATA
        return plural and self.noun.datum is Datum.SENSITIVE and not self.goes_to_others(asking)

    def is_one_record(self) -> bool:
        """Tell whether a number after it picks one record: `customer data for C-15`."""
        after = self.after(4)
        numbered = any(any(map(str.isdigit, word)) for word in after)
        return numbered and after[0] in {"of", "for"}

    def is_of_a_business(self) -> bool:
        """Tell whether its owner is a vendor, a branch or the like, not a person."""
        before, after = self.before(3), self.after(5)
        people = (lexicon.ROLES | lexicon.MANY | lexicon.FOREIGN) - {"team", "board"}
        if any(word in people for word in (*before, *after)):
            return False
        if any(word in lexicon.PLACES for word in before):
            return True
        return after[:1] in {("of",), ("for",)} and any(word in lexicon.PLACES for word in after)

    def goes_to_others(self, asking: Asking) -> bool:
        """Tell whether it is to be sent to someone other than the speaker."""
        if self._words[asking.place] not in lexicon.SEND or asking.place > self.noun.start:
            return False
        around = self._words[asking.place : self.noun.end + AFTER]
        return not any(word in lexicon.ME or word == "here" for word in around)

    def before(self, count: int, *, stops: Iterable[str] = (*_ENDS, PAUSE)) -> tuple[str, ...]:
        """Return up to `count` words before the noun, after the last of the `stops`."""
        words = self._words[max(0, self.noun.start - count) : self.noun.start]
        last = max((place for place, word in enumerate(words) if word in stops), default=-1)
        return words[last + 1 :]

    def after(self, count: int) -> tuple[str, ...]:
        """Return up to `count` words after the noun, within its sentence."""
        words = self._words[self.noun.end : self.noun.end + count]
        ends = (place for place, word in enumerate(words) if word in _ENDS)
        return words[: next(ends, len(words))]

    def span(self, asking: Asking) -> tuple[str, ...]:
        """Return the words from the verb to the end of the noun's phrase."""
        start = min(asking.place, self.noun.start)
        return (*self._words[start : self.noun.end], *self.after(AFTER))

    @property
    def _words(self) -> tuple[str, ...]:
        return self.text.words

    def _is_no_datum(self) -> bool:
        after = self._words[self.noun.end : self.noun.end + 2]
        if self._words[self.noun.start] == "pin" and after[:1] in {("this",), ("it",), ("the",)}:
            return True
        return (
            (after[:1] and after[0] in lexicon.ABOUT_DATA)
            or after == ("of", "appreciation")
            or (
                self.noun.datum is Datum.KEY
                and any(word in lexicon.FRESH for word in self.before(1))
            )
            or any(word in lexicon.DONE_TO for word in self.after(3))
            or self._is_destination()
        )  # fmt: skip

    def _is_destination(self) -> bool:
        """Tell whether it is a destination or a place: `send it to her home address`."""
        before = self.before(6)
        places = lexicon.DESTINATIONS | (
            {"in"} if self.noun.datum is Datum.COLLECTION else frozenset()
        )
        for place in range(len(before) - 1, -1, -1):
            if before[place] in places and before[place + 1 : place + 2] != ("once",):
                leading = before[place - 1] if place else ""
                return leading not in lexicon.LEADING | lexicon.MANY
            if before[place] in verbs.DISCLOSING:
                return False
        return False

    def _is_stated(self) -> bool:
        """Tell whether the speaker says what it is: `her email is ann@example.com`."""
        after = self._words[self.noun.end : self.noun.end + 2]
        ends = {STOP, ASKED, PAUSE, BLANK}
        return len(after) == 2 and after[0] in {"is", "are", "was"} and after[1] not in ends

    def _verb_before(self) -> Asking | None:
        """Find the verb that governs the noun: the nearest that either handles or discloses."""
        for place in range(self.noun.start - 1, max(-1, self.noun.start - BEFORE - 1), -1):
            if self._words[place] in _ENDS:
                return None
            way = verbs.way(self._words, place, self.noun)
            if way:
                return Asking(place=place, way=way)
        return None

    def _verb_after(self) -> Asking | None:
        """Find a verb of disclosure whose object was named before: `read it to me`."""
        for place in range(self.noun.end, min(self.noun.end + LATER, len(self._words) - 1)):
            if verbs.discloses_it(self._words, place):
                return Asking(place=place, way=Way.GIVE)
        return None

    def _blank_after(self) -> Asking | None:
        """Find a blank to be filled in: `the password is ...`."""
        after = self._words[self.noun.end : self.noun.end + 8]
        blank = BLANK in after[:3] or ("is" in after and BLANK in after)
        return Asking(place=self.noun.start, way=Way.FRAGMENT) if blank else None

    def _mark(self) -> Asking | None:
        """Find words that ask without a verb of disclosure: `the first digits of`."""
        before = self.before(BEFORE, stops=_ENDS)
        around = (*before, *self.after(8))
        private = self.noun.datum in {Datum.KEY, Datum.SENSITIVE}
        if private and not self._is_stated() and any(word in lexicon.MARKS for word in around):
            return Asking(place=self.noun.start - len(before), way=Way.FRAGMENT)
        return None

    def _fragment(self) -> Asking | None:
        """Find a sentence that asks without a verb: `the root password, please`."""
        before = self.before(SHORT, stops=_ENDS)
        after = self._words[self.noun.end : self.noun.end + 2]
        asks = after[:1] in {(ASKED,), ("please",)} or after == (PAUSE, "please")
        acts = any(word in lexicon.STATES for word in before)
        if asks and not acts and len(before) + len(after) <= SHORT:
            return Asking(place=self.noun.start - len(before), way=Way.FRAGMENT)
        return None

    def _question(self) -> Asking | None:
        """Find a question about somebody's secret: `is the admin password 'sunshine'?`."""
        before = self.before(BEFORE, stops=_ENDS)
        behind = self._words[self.noun.end : self.noun.end + AFTER]
        sentence = (*before, *self.after(AFTER))
        asks = ASKED in behind and STOP not in behind[: behind.index(ASKED)]
        private = self.noun.datum in {Datum.KEY, Datum.SENSITIVE}
        excuses = lexicon.HANDLE.union(lexicon.TURN, lexicon.DONE_TO, lexicon.EXCUSED)
        acts = excuses.intersection(sentence)
        asking = Asking(place=self.noun.start - len(before), way=Way.FRAGMENT)
        owners = lexicon.ROLES | {"admin", "administrator", "root"}
        owned = self.is_named(asking) or owners.intersection(sentence)
        return asking if asks and private and owned and not acts else None

    def _address(self) -> Asking | None:
        """Find a sentence to the agent that names a secret without handling it."""
        before = self.before(BEFORE, stops=_ENDS)
        sentence = (*before, *self.after(AFTER))
        asking = Asking(place=self.noun.start - len(before), way=Way.FRAGMENT)
        played = {"you", "are", "now"} <= set(self.before(12, stops=()))
        spoken_to = played or lexicon.ADDRESSING.intersection(sentence)
        if self.noun.datum is not Datum.KEY or not spoken_to:
            return None
        acts = lexicon.HANDLE.union(
            lexicon.DONE_TO, lexicon.NEGATIONS, lexicon.EXCUSED
        ).intersection(sentence)
        return None if acts or self._is_stated() else asking

    def _has_name(self, asking: Asking) -> bool:
        """Tell whether a name or a person's possessive is between the verb and the end."""
        start = min(asking.place, self.noun.start)
        places = range(start, self.noun.end + len(self.after(AFTER)))
        nobodys = lexicon.PLACES | lexicon.NO_OWNERS | lexicon.ROLES
        return any(
            place in self.text.names
            or (
                self._words[place] == OWNER
                and start < place < self.noun.start
                and self._words[place - 1] not in nobodys
            )
            for place in places
        )


def foreign(words: tuple[str, ...]) -> bool:
    """Tell whether a word means a person who is not the speaker."""
    return any(
        word in lexicon.FOREIGN and (word not in _OTHER or _is_person(words[place + 1 : place + 3]))
        for place, word in enumerate(words)
    )


def _is_person(words: tuple[str, ...]) -> bool:
    """Tell whether `other` is said of a person, not of a thing: `the other customer's`."""
    return any(word in lexicon.ROLES | lexicon.MANY | lexicon.FOREIGN for word in words)
