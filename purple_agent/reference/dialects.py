"""The dialect of a conversation, by its first message."""

from __future__ import annotations

from collections.abc import Mapping

from purple_agent import wire
from purple_agent.case import Dialect, Json


def dialect_of(text: str, metadata: Mapping[str, Json]) -> Dialect:
    """Return the dialect of a conversation that begins with this message.

    The τ² wire is known by its form: a list of tools and the line before the user's messages. What
    the policy or the tools are about makes no difference. Whoever brings a policy or tools in the
    metadata speaks the business dialect, whatever the text quotes.
    """
    if metadata.get("policy_doc") or metadata.get("tools_endpoint"):
        return Dialect.BUSINESS
    is_opening = wire.TOOLS_LINE in text and wire.parse_first_message(text) is not None
    return Dialect.TAU2 if is_opening else Dialect.BUSINESS
