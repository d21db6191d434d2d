"""MessengerLimits: how long a participant may take and how much it may send."""

from __future__ import annotations

from dataclasses import dataclass

from tau_bridge.limits import Limits


@dataclass(frozen=True, kw_only=True)
class MessengerLimits(Limits):
    """Limits on one participant's answers. All are positive.

    Raises:
        ValueError: One is not positive.
    """

    timeout_s: float = 300.0
    """Seconds for a whole turn, from the message to the end of the reply."""
    card_timeout_s: float = 10.0
    """Seconds for fetching the agent card, connection included."""
    token_timeout_s: float = 8.0
    """Seconds for a token of OAuth 2.0. Below `card_timeout_s`, as the card is fetched with one."""
    probe_timeout_s: float = 5.0
    """Seconds for the card of an agent that gave no reply in time: one that serves it is there."""
    connect_timeout_s: float = 10.0
    """Seconds for making a connection."""
    max_reply_bytes: int = 2 * 1024 * 1024
    """Body bytes of one HTTP answer. Compressed answers are refused, so these are decoded bytes.
    More than `max_reply_chars`, because a task may repeat its history, and JSON may escape."""
    max_events: int = 10_000
    """Events of one answer, including those of looks at its task."""
    max_reply_chars: int = 256 * 1024
    """Characters of text and data (as JSON) in one reply. All of them enter the conversation."""
    max_conversation_chars: int = 4 * 1024 * 1024
    """Characters of one conversation, the messages and the replies together."""
    max_reports: int = 100
    """Traces of its own calls that an agent may send along in one conversation."""
    max_report_bytes: int = 16 * 1024 * 1024
    """Body bytes of the answers in one conversation that carry such traces."""
    max_card_bytes: int = 1024 * 1024
    """Body bytes of an agent card."""
    keepalive_s: float = 4.0
    """Seconds that an idle connection is kept. Below the 5 s of common servers."""
    max_retries: int = 3
    """Repeats of a message that did not reach the agent: HTTP 429, 502, 503 and 504, and a connection
    that was refused or broke before an answer began."""
    max_retry_wait_s: float = 30.0
    """Seconds of waiting for that in all, for one message. A longer Retry-After ends the turn."""
    retry_wait_s: float = 0.5
    """The wait before the first such repeat where no Retry-After names one; it doubles each time."""
    settle_s: float = 0.25
    """Seconds that a stream may take to end after its task did, so that its connection lives on."""
    poll_interval_s: float = 0.5
    """Between two looks at a task whose agent ended its answer while the task was working."""
    cancel_timeout_s: float = 2.0
    """Seconds for cancelling a task that is no longer awaited. Closing may take this long."""
