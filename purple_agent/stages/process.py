"""Stage 5, process: what kind of process a conversation is, and where it goes on."""

from __future__ import annotations

from dataclasses import replace

from purple_agent.case import Case, Dialect
from purple_agent.process.kinds import GENERAL, kind_of
from purple_agent.process.machine import Evidence, Sign, State

ANEW = "process:anew"
"""Flag: what the conversation asked for before has ended; this is a request of its own."""

_ENDED = (State.COMPLETE, State.FAILED)


class ProcessStage:
    """Begins a process with the first message, and goes on with it in later ones.

    The runner of the pipeline keeps `session.process` over restarts.
    """

    async def __call__(self, case: Case) -> Case:
        """Bring the process of the session at least to ASSESS."""
        session, flags = case.session, list(case.flags)
        if session.process.state in _ENDED:
            session.process = session.process.next_request()
            flags.append(ANEW)
        if session.process.kind == GENERAL and session.dialect is Dialect.BUSINESS:
            kind = kind_of(case.incoming.text, session.policy_text)
            session.process = replace(session.process, kind=kind)
        if session.process.state is State.DECOMPOSE:
            session.process = session.process.advance(Evidence(sign=Sign.UNDERSTOOD))
        return replace(case, flags=tuple(flags))
