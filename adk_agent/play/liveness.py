"""LivenessMonitor: notices that a participant is gone, so that its other trials do not wait for it."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from adk_agent.results.summary import TrialRow
from tau_bridge.errors import AgentTimeoutError

PROBE_AFTER = 3
"""Trials of a participant in a row without a reply, before its card is asked for again."""
GIVE_UP_AFTER = 8
"""Trials in a row without a reply, after which it is given up though its card is there."""

RETRY_TIMEOUT_FACTOR = 6.0
"""Factor by which a participant may take longer for its card at the second request.
Where hundreds of conversations go on at once, it may be we who are slow."""

Probe = Callable[[str, float], Awaitable[str | None]]
"""Takes a participant's address, and how many times the usual time it may take; returns why it is
gone, None if nothing says so. Raises AgentTimeoutError where it takes longer."""


class LivenessMonitor:
    """Watches trials end, and says which participants are gone.

    Args:
        probe: Asks whether a participant is there.
        gone: The participants that never were, each with why.
    """

    def __init__(self, probe: Probe, *, gone: Mapping[str, str] = MappingProxyType({})) -> None:
        self._probe = probe
        self._in_a_row: Counter[str] = Counter()
        self._gone = {address: f"it was not ready: {problem}" for address, problem in gone.items()}
        self._asked: set[str] = set()

    def gone(self, address: str) -> str | None:
        """Return why a participant is given up, None while it is not."""
        return self._gone.get(address)

    async def on_trial_end(self, trial: TrialRow) -> None:
        """Count a trial without a reply, and probe the participant when there are too many."""
        address = trial.participant
        if not _is_without_reply(trial):
            self._in_a_row[address] = 0
            return
        self._in_a_row[address] += 1
        if self._in_a_row[address] < PROBE_AFTER or address in {*self._gone, *self._asked}:
            return
        self._asked.add(address)  # by one trial at a time, however many end at once
        try:
            reason = await self._ask(address)
        finally:
            self._asked.discard(address)
        count = self._in_a_row[address]
        if count < PROBE_AFTER:
            return  # it gave a reply meanwhile
        if reason is None and count >= GIVE_UP_AFTER:
            reason = f"{count} trials in a row gave no reply, the last because of {trial.reason}"
        if reason is not None:
            self._gone[address] = f"not played, because the agent was given up: {reason}"

    async def _ask(self, address: str) -> str | None:
        with contextlib.suppress(AgentTimeoutError):
            return await self._probe(address, 1.0)
        try:
            return await self._probe(address, RETRY_TIMEOUT_FACTOR)
        except AgentTimeoutError as error:
            return str(error)


def _is_without_reply(trial: TrialRow) -> bool:
    # Not by the fault alone: a judge that fails leaves one too, after a whole conversation.
    if trial.termination == "infrastructure_error":
        return True
    return trial.diagnosis is not None and trial.diagnosis.kind == "no_reply"
