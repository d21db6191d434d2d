"""itself_among: detects a request to assess this service itself."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from adk_agent.core.plan import EvaluationPlan
from tau_bridge.a2a.address import AddressError, AgentAddress
from tau_bridge.a2a.networks import Host, kind_of

_THIS_MACHINE = "this machine"
_PORTS = {"http": 80, "https": 443}


def itself_among(plan: EvaluationPlan, own_addresses: Collection[str]) -> str | None:
    """Return a message if one of a plan's agents is this service itself, else None.

    Two addresses are the same if host, port and path match; all names and addresses of this machine
    are one host. No host name is resolved.

    Args:
        plan: The plan, whose participants and team members are checked.
        own_addresses: The addresses of this service.
    """
    own = {endpoint for address in own_addresses if (endpoint := _endpoint(address)) is not None}
    for agent in plan.members or plan.participants:
        if agent.builtin is None and _endpoint(agent.address) in own:
            return (
                f"the agent at {agent.address!r} is this service itself, which assesses agents "
                "and cannot be assessed: give the address of another agent"
            )
    return None


def _endpoint(address: str) -> tuple[str, int, str] | None:
    try:
        parts = urlsplit(AgentAddress.parse(address).url)
    except AddressError:
        return None
    return _host(parts.hostname or ""), parts.port or _PORTS[parts.scheme], parts.path


def _host(name: str) -> str:
    try:
        host = Host.parse(name)
    except ValueError:
        return name
    if host.is_this_machine or (host.address is not None and kind_of(host.address) == "loopback"):
        return _THIS_MACHINE
    return host.name
