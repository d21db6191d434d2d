"""How much may pass through the proxy."""

import pytest

from tau_bridge.a2a.proxy import ProxyLimits


@pytest.mark.parametrize("name", ["max_hops", "max_calls", "max_request_bytes", "keepalive_s"])
def test_a_limit_that_is_not_positive_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be positive, not 0"):
        ProxyLimits(**{name: 0})
