"""Stage 6, tools: opens the tools of a conversation when first needed, and keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from purple_agent.case import Case, Dialect, Entry, Session, ToolSpec
from purple_agent.errors import ToolsUnavailableError
from purple_agent.json_values import without_surrogates
from purple_agent.toolbox.drift import RepairingTools
from purple_agent.toolbox.failures import EndpointError
from purple_agent.toolbox.opening import Opener
from purple_agent.toolbox.wire import WireTools

MAX_SESSION_ID = 200
MAX_NOTES = 20


class ToolsStage:
    """Pins `session.tools` and `session.specs`.

    An endpoint without tools does not end the case, which continues with a flag `tools:<code>` and
    a note for the reasoner.

    Args:
        opener: Opens the tools at an address.
    """

    def __init__(self, opener: Opener) -> None:
        self._opener = opener

    async def __call__(self, case: Case) -> Case:
        """Give the session its tools, if there are any."""
        if case.session.dialect is Dialect.TAU2:
            return await _with_wire_tools(case)
        endpoint = case.incoming.metadata.get("tools_endpoint")
        if endpoint is None or endpoint == "":
            return case
        if not isinstance(endpoint, str):
            return _without(case, "address", "the address of the tools is not text")
        return await self._with_tools(case, endpoint.strip())

    async def _with_tools(self, case: Case, endpoint: str) -> Case:
        session = case.session
        if session.tools is not None:
            moved = isinstance(session.tools, RepairingTools) and session.tools.endpoint != endpoint
            return case.flagged("tools:pinned") if moved else case
        try:
            opened = await self._opener(endpoint, session_id(case))
        except ToolsUnavailableError as error:
            code = error.code.value if isinstance(error, EndpointError) else "unavailable"
            return _without(case, code, str(error))
        session.specs = opened.specs
        session.tools = RepairingTools(
            opened.tools, specs=opened.specs, endpoint=endpoint, relisted=_pinning(session)
        )
        _note(session, opened.notes)
        return case if opened.specs else case.flagged("tools:none")


def session_id(case: Case) -> str:
    """Return the conversation's id for the tools: the caller's, else the context's.

    Numbers in A2A metadata are floats, so a whole number is written without decimals.
    """
    given: Any = case.incoming.metadata.get("session_id")
    if isinstance(given, float) and given.is_integer():
        given = int(given)
    if isinstance(given, (str, int)) and not isinstance(given, bool) and str(given):
        # An address cannot contain a lone surrogate.
        return without_surrogates(str(given)[:MAX_SESSION_ID])
    return case.session.context_id[:MAX_SESSION_ID]


async def _with_wire_tools(case: Case) -> Case:
    """Give the session the tools that the message describes, if it has none yet."""
    if case.session.specs:
        return case
    tools = WireTools(case.incoming.text)
    try:
        specs = await tools.specs()
    except ToolsUnavailableError:
        return case
    case.session.specs = tuple(specs)
    _note(case.session, tools.notes)
    return case if specs else case.flagged("tools:none")


def _pinning(session: Session) -> Callable[[tuple[ToolSpec, ...]], None]:
    def pin(specs: tuple[ToolSpec, ...]) -> None:
        session.specs = specs

    return pin


def _without(case: Case, code: str, why: str) -> Case:
    _note(case.session, (f"There are no tools: {why}.",))
    return case.flagged(f"tools:{code}")


def _note(session: Session, notes: Sequence[str]) -> None:
    session.entries += [Entry(role="note", text=note) for note in notes[:MAX_NOTES]]
