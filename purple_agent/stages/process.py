"""Stage 5, process: determines the kind of business process and its state."""

from __future__ import annotations

from dataclasses import replace

from purple_agent.case import Case, Dialect
from purple_agent.process.kinds import GENERAL, kind_of
from purple_agent.process.machine import Evidence, Sign, State

ANEW = "process:anew"
"""Flag: the conversation's previous process has ended, so this is a new request."""

_ENDED = (State.COMPLETE, State.FAILED)


class ProcessStage:
    """Starts a process with the first message and continues it in later ones.

    `ReferenceAgent` keeps `session.process` across restarts.
    """

    async def __call__(self, case: Case) -> Case:
        """Advance the session's process at least to ASSESS."""
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
