"""Vigil: notices that a participant is gone, so that the rest of its trials is not waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable

from adk_agent.summary import TrialRow

PROBE_AFTER = 3
"""Trials of a participant in a row without a reply, before its card is asked for again."""
GIVE_UP_AFTER = 8
"""Trials in a row without a reply, after which it is given up though its card is there."""

Probe = Callable[[str], Awaitable[str | None]]
"""Takes a participant's address; returns why it is gone, None if it is there."""


class Vigil:
    """Watches trials end, and says which participants need not be asked again.

    Args:
        probe: Asks whether a participant is there.
    """

    def __init__(self, probe: Probe) -> None:
        self._probe = probe
        self._in_a_row: Counter[str] = Counter()
        self._gone: dict[str, str] = {}

    def gone(self, address: str) -> str | None:
        """Why a participant is given up, None while it is not."""
        return self._gone.get(address)

    async def saw(self, trial: TrialRow) -> None:
        """Take note of how a trial ended."""
        address = trial.participant
        # Not by the fault alone: a judge that fails leaves one too, after a whole conversation.
        if trial.termination != "infrastructure_error":
            self._in_a_row[address] = 0
            return
        self._in_a_row[address] += 1
        count = self._in_a_row[address]
        if count < PROBE_AFTER or address in self._gone:
            return
        reason = await self._probe(address)
        if reason is None and count >= GIVE_UP_AFTER:
            reason = f"{count} trials in a row gave no reply, the last because of {trial.reason}"
        if reason is not None:
            self._gone[address] = f"not played, because the agent is gone: {reason}"
