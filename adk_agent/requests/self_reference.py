"""itself_among: a service that is asked to assess itself."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from adk_agent.core.plan import EvaluationPlan
from tau_bridge.a2a.address import AddressError, AgentAddress
from tau_bridge.a2a.networks import Host, kind_of

_THIS_MACHINE = "this machine"
_PORTS = {"http": 80, "https": 443}


def itself_among(plan: EvaluationPlan, own_addresses: Collection[str]) -> str | None:
    """Why a plan is refused: the first of its agents that is this service itself. None if no one is.

    Two addresses are the same where port and path are, and the host is, every name and address of
    this machine being one. A host is not looked up.

    Args:
        plan: Its participants and all members of their teams are looked at.
        own_addresses: Where this service is reached.
    """
    own = {place for address in own_addresses if (place := _place(address)) is not None}
    for agent in plan.members or plan.participants:
        if agent.builtin is None and _place(agent.address) in own:
            return (
                f"the agent at {agent.address!r} is this service itself, which assesses agents "
                "and is none of those that can be assessed: give the address of another agent"
            )
    return None


def _place(address: str) -> tuple[str, int, str] | None:
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
