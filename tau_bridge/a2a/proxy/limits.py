"""ProxyLimits: how much passes through the proxy."""

from __future__ import annotations

from dataclasses import dataclass

from tau_bridge.limits import Limits


@dataclass(frozen=True, kw_only=True)
class ProxyLimits(Limits):
    """Limits on the calls between agents. All are positive.

    There is no limit on how long a call may take: the caller gives up when it likes, which ends the
    call to the peer too, and the assessor's messenger bounds the turn in which all of it happens.

    Raises:
        ValueError: One is not positive.
    """

    max_hops: int = 16
    """Calls that may be open inside each other, counting those that went through the proxy."""
    max_calls: int = 10_000
    """Messages in one recording; those that were refused count too."""
    max_request_bytes: int = 10 * 1024 * 1024
    """Body bytes of one request."""
    max_reply_bytes: int = 2 * 1024 * 1024
    """Body bytes of one answer, streams included; as the messenger's."""
    connect_timeout_s: float = 10.0
    """Seconds for making a connection to a peer."""
    keepalive_s: float = 4.0
    """Seconds that an idle connection is kept. Below the 5 s of common servers."""
