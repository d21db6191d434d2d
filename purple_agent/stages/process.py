"""Stage 5, process: what kind of process a conversation is, and where it goes on."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from purple_agent.case import Case, Dialect, Session
from purple_agent.process.checkpoint import CheckpointStore
from purple_agent.process.kinds import GENERAL, kind_of
from purple_agent.process.machine import Evidence, Process, Sign, State

RESTORED = "process:restored"
"""Flag: the process goes on from a checkpoint."""
ANEW = "process:anew"
"""Flag: what the conversation asked for before has ended; this is a request of its own."""

_ENDED = (State.COMPLETE, State.FAILED)


class ProcessStage:
    """Begins a process with the first message, and goes on with it in later ones.

    Args:
        checkpoints: Where processes are kept over restarts; None: nowhere. Whoever runs the
            pipeline saves `session.process` there after the reply.
    """

    def __init__(self, checkpoints: CheckpointStore | None = None) -> None:
        self._checkpoints = checkpoints

    async def __call__(self, case: Case) -> Case:
        """The case with the process of its session at least in ASSESS."""
        session, flags = case.session, list(case.flags)
        if await self._restore(session):
            flags.append(RESTORED)
        if session.process.state in _ENDED:
            session.process = Process(notes=session.process.notes)
            flags.append(ANEW)
        if session.process.kind == GENERAL and session.dialect is Dialect.BUSINESS:
            kind = kind_of(case.incoming.text, session.policy_text)
            session.process = replace(session.process, kind=kind)
        if session.process.state is State.DECOMPOSE:
            session.process = session.process.advance(Evidence(sign=Sign.UNDERSTOOD))
        return replace(case, flags=tuple(flags))

    async def _restore(self, session: Session) -> bool:
        """Whether the process of a session that has none yet was found."""
        if self._checkpoints is None or session.process != Process():
            return False
        kept = await asyncio.to_thread(self._checkpoints.load, session.context_id)
        if kept is None:
            return False
        session.process = kept
        return kept.state is not State.DECOMPOSE
