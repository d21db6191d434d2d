"""GoldReplay: state-changing calls, replayed beside those of them that are gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tau_bridge.messages import Message, ToolCall
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.environment import Environment
from tau_bridge.tau2.matching import MadeCall, pair_writes
from tau_bridge.tau2.replay import set_state
from tau_bridge.tau2.tasks import EnvAssertion, GoldAction, Task

MOST_COMPARED = 32
"""Comparisons of the two worlds; after that only at the end."""
MOST_EFFECTS_TRIED = 8
"""Trials of a call that is not gold against one that is, to see whether it does the same."""


@dataclass(frozen=True, kw_only=True)
class Worlds:
    """Makes worlds in a task's initial state."""

    domain: Domain
    task: Task
    history: tuple[Message, ...]
    solo: bool

    def fresh(self, *, solo: bool | None = None) -> Environment:
        """Make a world in which nothing has been done yet."""
        environment = Environment(self.domain, solo=self.solo if solo is None else solo)
        set_state(environment, self.task, self.history, lenient=True)
        return environment

    def after(self, calls: Sequence[ToolCall]) -> Environment:
        """Make a world in which these calls were made."""
        environment = self.fresh()
        for call in calls:
            environment.respond(call)
        return environment

    def after_gold(self, actions: Sequence[GoldAction]) -> Environment:
        """Make a world in which these actions were carried out, synchronised as calls are."""
        # Never in solo mode: gold actions name their requestors.
        environment = self.fresh(solo=False)
        for action in actions:
            environment.respond(call_of(action))
        return environment


class GoldReplay:
    """The replay, done when it is made.

    As long as the two worlds are equal the conversation is on the path, in whatever order.

    Args:
        worlds: Makes the worlds.
        made: The state-changing calls that were made.
        gold: The state-changing actions of the gold path.

    Attributes:
        pairs: Made calls to the gold calls that they are, by their places.
        harmless: Made calls that are not gold and changed nothing, or nothing that lasted.

    Raises:
        HarnessError: The task's data do not fit.
    """

    def __init__(
        self, worlds: Worlds, *, made: Sequence[MadeCall], gold: Sequence[GoldAction]
    ) -> None:
        self.made = made
        self.gold = gold
        self.pairs = pair_writes(made, gold, any_requestor=worlds.solo)
        self.harmless: set[int] = set()
        self._worlds = worlds
        self._on_path_calls: list[ToolCall] = []
        self._off: list[int] = []
        self._compared = self._tried = 0
        if made:
            self._actual, self._on_path = worlds.fresh(), worlds.fresh()
        for index in range(len(made)):
            self._step(index)

    @property
    def divergence(self) -> MadeCall | None:
        """Return the call by which the world left the path and did not come back."""
        return self.made[self._off[0]] if self._off else None

    @property
    def first_out_of_order(self) -> MadeCall | None:
        """Return the first call that is not the gold call whose turn it was."""
        for place, (index, gold_index) in enumerate(sorted(self.pairs.items())):
            if gold_index != place:
                return self.made[index]
        return None

    def ends_as_gold(self) -> bool:
        """Tell whether the world ends as the gold path leaves it."""
        actual = self._worlds.after([made.call for made in self.made])
        return not actual.differences(self._worlds.after_gold(self.gold))

    def unmet_by_gold(self, assertions: Sequence[EnvAssertion]) -> tuple[int, ...]:
        """Return the places of the assertions that do not hold after the gold actions either."""
        if not assertions:
            return ()
        gold = self._worlds.after_gold(self.gold)
        return tuple(place for place, each in enumerate(assertions) if not gold.holds(each))

    def _step(self, index: int) -> None:
        call = self.made[index].call
        self._actual.respond(call)
        if index in self.pairs:
            self._on_path_calls.append(call)
            self._on_path.respond(call)
        if self._is_on_path(index):
            self.harmless.update(each for each in (*self._off, index) if each not in self.pairs)
            self._off = []
        else:
            self._off.append(index)

    def _is_on_path(self, index: int) -> bool:
        if index in self.pairs and not self._off:
            # The same call on equal worlds leaves them equal.
            return True
        self._compared += 1
        if self._compared > MOST_COMPARED and index < len(self.made) - 1:
            return False
        return not self._actual.differences(self._on_path) or self._does_the_same(index)

    def _does_the_same(self, index: int) -> bool:
        """Tell whether a call has the effect of an open gold call; if so they become a pair."""
        if self._off or self._worlds.solo:
            return False
        name = self.made[index].call.name
        still_open = [g for g in range(len(self.gold)) if g not in self.pairs.values()]
        for gold_index in sorted(still_open, key=lambda g: self.gold[g].name != name):
            if self._tried >= MOST_EFFECTS_TRIED:
                return False
            self._tried += 1
            there = self._worlds.after([*self._on_path_calls, call_of(self.gold[gold_index])])
            if not self._actual.differences(there):
                self.pairs[index] = gold_index
                self._on_path_calls.append(self.made[index].call)
                self._on_path = there
                return True
        return False


def call_of(action: GoldAction) -> ToolCall:
    """Return a gold action as a call."""
    return ToolCall(name=action.name, arguments=action.arguments, requestor=action.requestor)
