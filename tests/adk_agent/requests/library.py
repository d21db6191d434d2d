"""A small benchmark whose tasks are made to be found."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from evals.outcome import TaskResult
from tau_bridge.a2a.conversation import Conversation
from tau_bridge.benchmark import (
    Benchmark,
    DomainInfo,
    Judge,
    PlayContext,
    Played,
    TaskInfo,
    TaskRef,
)
from tau_bridge.benchmarks import Benchmarks

COMMON = "Be polite to the librarian at all times."
LOANS: Mapping[str, dict[str, Any]] = {
    "renew": {
        "title": "A loan is renewed",
        "passages": {"wish": "You want to extend two books.", "manner": COMMON},
        "attributes": {"changes": "2", "mood": "calm", "person": "Ada_Byron"},
    },
    "fine": {
        "title": "A fine is waived",
        "passages": {"wish": "You lost a t-shirt and pay no fine.", "manner": COMMON},
        "attributes": {"changes": "0", "mood": "angry", "skills": "sums, patience"},
    },
    "fee": {
        "title": "A fee is refunded",
        "text": "You want your money back for the giftcard. You don't need a bag.",
        "passages": {"manner": COMMON},
        "attributes": {"changes": "1", "mood": "angry"},
    },
    "bag": {
        "title": "Luggage in the cloakroom",
        "passages": {"wish": "Your suitcase is gone. Renew nothing.", "manner": COMMON},
        "attributes": {"changes": "12", "mood": "calm"},
    },
    "card": {
        "title": "Cards",
        "passages": {"wish": "You have a gift card and a book.", "manner": COMMON},
        "attributes": {"changes": "0", "mood": "calm"},
    },
    "lost": {
        "title": "Lost and found",
        "passages": {"wish": "A book is lost.", "manner": COMMON},
        "attributes": {"changes": "1"},
    },
    "quiet": {"title": "Silence", "passages": {"manner": COMMON}},
}
SPLITS = {"loans": ("base", "few"), "rooms": ("base",)}
NEEDS_A_USER = {"bag"}


class LibraryOptions(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    solo: bool = False


class LibraryBenchmark(Benchmark):
    """Loans with texts, and rooms with titles alone. Nobody plays them."""

    name = "library"
    options_type = LibraryOptions
    options: LibraryOptions
    read = 0
    """How often tasks were read."""

    def domains(self) -> tuple[DomainInfo, ...]:
        return tuple(DomainInfo(name=name) for name in SPLITS)

    def splits(self, domain: str) -> tuple[str, ...]:
        return SPLITS[domain]

    def tasks(self, domain: str, split: str = "base") -> Sequence[TaskInfo]:
        type(self).read += 1
        if domain == "rooms":
            return [TaskInfo(ref=self.ref(domain, "1"), title="A room for a concert")]
        names = list(LOANS) if split == "base" else ["renew", "fine"]
        return [TaskInfo(ref=self.ref(domain, name), **LOANS[name]) for name in names]

    def unplayable(self, ref: TaskRef) -> str | None:
        return "it needs a user" if self.options.solo and ref.id in NEEDS_A_USER else None

    async def play(self, ref: TaskRef, agent: Conversation, context: PlayContext) -> Played:
        raise NotImplementedError

    async def score(self, ref: TaskRef, played: Played, judge: Judge | None) -> TaskResult | None:
        raise NotImplementedError


def library() -> Benchmarks:
    return Benchmarks([LibraryBenchmark()])
