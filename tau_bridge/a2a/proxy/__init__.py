"""An observing proxy between agents: it passes their calls on and writes them down.

    async with ObservingProxy({"front": front_url, "clerk": clerk_url}) as proxy:
        wiring = proxy.wiring()          # tell each agent the addresses of its peers
        with proxy.recording(recorder):  # calls between them become steps of this trace
            ...

Calls pass unchanged, unless the proxy is to tell agents of their peers (`introduces`).
Nothing but the named agents can be reached through it. May import what `a2a` may, and `a2a` itself;
nothing else in `tau_bridge` imports it.
"""

from tau_bridge.a2a.proxy.limits import ProxyLimits
from tau_bridge.a2a.proxy.server import ObservingProxy

__all__ = ["ObservingProxy", "ProxyLimits"]
