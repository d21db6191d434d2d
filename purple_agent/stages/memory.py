"""Stage 2, the case memory: looks up the answers to similar requests."""

from __future__ import annotations

import logging
from dataclasses import replace

from anyio import to_thread

from purple_agent.case import Case, Dialect
from purple_agent.memory.cases import CaseMemory, CaseMemoryError

logger = logging.getLogger(__name__)

UNAVAILABLE = "memory:unavailable"
"""Flag: the memory could not be read or written."""


def remembers(memory: CaseMemory | None, dialect: Dialect) -> bool:
    """Tell whether cases of a dialect are remembered.

    Those of the τ² wire never are, because trials would depend on each other.
    """
    return memory is not None and dialect is Dialect.BUSINESS


class MemoryStage:
    """Looks up similar cases.

    Args:
        memory: The memory; None to remember nothing, as in evaluations.
    """

    def __init__(self, memory: CaseMemory | None) -> None:
        self._memory = memory

    async def __call__(self, case: Case) -> Case:
        """Add up to three similar cases. If the memory fails, add a flag."""
        if self._memory is None or not remembers(self._memory, case.session.dialect):
            return case
        try:
            similar = await to_thread.run_sync(self._memory.similar, case.incoming.text)
        except CaseMemoryError as exc:
            logger.warning("%s", exc)
            return case.flagged(UNAVAILABLE)
        return replace(case, similar=similar)
