"""Stage 4, the policy checker: pins the policy, and ends a case that it blocks outright."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from purple_agent.case import Answer, Case, Dialect
from purple_agent.policy.hashing import hash_policy
from purple_agent.policy.rules import Action, read_policy
from purple_agent.process.machine import Evidence, Sign

PINNED = "policy:pinned"
"""Flag: a later message has another policy, which is ignored."""
INVALID = "policy:invalid"
"""Flag: part of the policy cannot be read, which forbids writes."""

_ASKS = re.compile(
    r"(what|which|when|where|who|whom|whose|why|how|is|are|was|were|do|does|did|has|have|am)\b",
    re.IGNORECASE,
)


class PolicyStage:
    """Reads `policy_doc` of the first message that has one; later ones cannot replace it.

    Even if the session was lost in between, only the same policy is accepted.

    A block that follows from the policy's own `context` ends the pipeline, since no read could
    change it. A block that follows from facts is left to the gate, because the next message may be
    about something else. A plain question is never blocked.
    """

    async def __call__(self, case: Case) -> Case | Answer:
        """Pin the policy to the session; end the case if the policy blocks it."""
        if case.session.dialect is Dialect.TAU2:
            return case  # its policy is prose and comes with the tools
        case = await self._pinned(case)
        return _blocked(case) or case

    async def _pinned(self, case: Case) -> Case:
        session = case.session
        brought = (session.given.get("policy_doc"), case.incoming.metadata.get("policy_doc"))
        documents = {id(document): document for document in brought if document}.values()
        by_hash = {await asyncio.to_thread(hash_policy, each): each for each in documents}
        policy_hash = next(filter(session.may_pin, by_hash), None)
        if policy_hash is not None:
            case = await _read(case, by_hash[policy_hash])
            session.policy_hash = policy_hash
        session.given.pop("policy_doc", None)  # only now, so that no policy is lost
        is_other = any(each != session.policy_hash for each in by_hash)
        return case.flagged(PINNED) if is_other else case


async def _read(case: Case, document: Any) -> Case:
    """Read a document as the policy of the case's session."""
    session = case.session
    # The first read imports lark, and the largest policies take up to a second.
    session.policy, session.policy_text = await asyncio.to_thread(read_policy, document)
    return case.flagged(INVALID) if session.policy.problem else case


def _blocked(case: Case) -> Answer | None:
    session = case.session
    verdict = session.policy.judge({})
    if verdict.action is not Action.BLOCK or _is_question(case.incoming.text):
        return None
    rules = ", ".join(verdict.decisive[:5])
    named = "rule" if len(verdict.decisive) == 1 else "rules"
    text = f"This cannot be done: it is blocked by policy, {named} {rules}."
    session.process = session.process.advance(Evidence(sign=Sign.BLOCKED, detail=text))
    metadata = {
        "policy": {"action": Action.BLOCK.value, "rules": list(verdict.decisive)},
        "flags": list(case.flags),
    }
    return Answer(text=text, kind="blocked", metadata=metadata)


def _is_question(text: str) -> bool:
    """Tell whether a request only asks for information."""
    text = text.strip()
    return text.endswith("?") and _ASKS.match(text) is not None
