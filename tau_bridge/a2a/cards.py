"""AgentCardInfo: an agent as its card describes it, and the way in which it will be called."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from a2a.types import AgentCard, AgentInterface
from a2a.utils.constants import TransportProtocol

from tau_bridge.a2a.address import AddressError, AgentAddress, endpoint, grpc_endpoint
from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.errors import AgentForbiddenError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HTTP_BINDINGS = (TransportProtocol.JSONRPC.value, TransportProtocol.HTTP_JSON.value)
"""The bindings of A2A that are requests by HTTP/1.1."""
GRPC = TransportProtocol.GRPC.value
_BINDINGS = (*HTTP_BINDINGS, GRPC)

_DEFAULT_POLICY = NetworkPolicy.open()


class CardError(ValueError):
    """A card that was read, but by which no agent can be called."""


@dataclass(frozen=True, kw_only=True)
class AgentCardInfo:
    """An agent's card, as far as an assessor wants it.

    `url` is the address that the user gave, `endpoint` the one that messages go to, and
    `advertised` the addresses in the card (see `tau_bridge.a2a.address` for why they may differ).
    `protocol_versions` and `transports` are what the card offers, in its order, each once;
    `extensions` their URIs; `security_schemes` their names.
    """

    url: str
    name: str
    version: str
    description: str
    streaming: bool
    protocol_versions: tuple[str, ...]
    transports: tuple[str, ...]
    skills: tuple[str, ...]
    extensions: tuple[str, ...]
    security_schemes: tuple[str, ...]
    is_signed: bool
    advertised: tuple[str, ...]
    endpoint: str
    transport: str
    protocol_version: str


def usable_card(
    card: AgentCard,
    address: AgentAddress,
    *,
    has_credentials: bool,
    policy: NetworkPolicy = _DEFAULT_POLICY,
    unusable: Mapping[str, str] = MappingProxyType({}),
    any_host: bool = False,
) -> AgentCard:
    """Return a copy of `card` with only the interface that will be called, at its safe address.

    A card names its interfaces in its order of preference: the transport is that of the first one
    that can be called. Among those of this transport, protocol 1.0 is preferred to others. With
    `any_host`, for code that has no address, hosts in the card are ignored.

    Raises:
        CardError: The card has no such interface, or no name.
    """
    if not card.name:
        raise CardError("its card has no name; is this an A2A agent?")
    candidates: list[AgentInterface] = []
    refusals: list[str] = []
    for interface in card.supported_interfaces:
        binding = interface.protocol_binding
        if binding in unusable or binding not in _BINDINGS:
            why = unusable.get(binding, "is not spoken here")
            refusals.append(f"transport {binding!r} {why}")
        elif not _is_spoken(interface.protocol_version):
            refusals.append(f"protocol version {interface.protocol_version!r} is not spoken here")
        else:
            try:
                target_of = grpc_endpoint if binding == GRPC else endpoint
                named = urlsplit(interface.url).path if any_host else interface.url
                target = target_of(address, named, has_credentials=has_credentials)
                policy.check_url(target)
            except (AddressError, AgentForbiddenError) as exc:
                refusals.append(str(exc))
                continue
            candidate = AgentInterface()
            candidate.CopyFrom(interface)
            candidate.url = target
            candidates.append(candidate)
    if not candidates:
        raise CardError(_why_unusable(refusals))
    usable = AgentCard()
    usable.CopyFrom(card)
    del usable.supported_interfaces[:]
    binding = candidates[0].protocol_binding
    alike = (one for one in candidates if one.protocol_binding == binding)
    usable.supported_interfaces.append(min(alike, key=_preference))
    return usable


def describe(card: AgentCard, usable: AgentCard, address: AgentAddress) -> AgentCardInfo:
    """Return the description of `card`, which will be called as `usable` says."""
    chosen = usable.supported_interfaces[0]
    offered = card.supported_interfaces
    return AgentCardInfo(
        url=address.url,
        name=card.name,
        version=card.version,
        description=card.description,
        streaming=card.capabilities.streaming,
        protocol_versions=_each_once(one.protocol_version for one in offered),
        transports=_each_once(one.protocol_binding for one in offered),
        skills=tuple(skill.name or skill.id for skill in card.skills),
        extensions=_each_once(one.uri for one in card.capabilities.extensions),
        security_schemes=tuple(sorted(card.security_schemes)),
        is_signed=bool(card.signatures),
        advertised=_each_once(one.url for one in offered),
        endpoint=chosen.url,
        transport=chosen.protocol_binding,
        protocol_version=chosen.protocol_version,
    )


def _preference(interface: AgentInterface) -> tuple[bool, bool]:
    version = interface.protocol_version
    is_1_0 = version == "1.0" or version.startswith("1.0.")
    return not is_1_0, not version.startswith("1.")


def _is_spoken(version: str) -> bool:
    """Accept 1.x and 0.3.x, and no version at all (read as 1.0)."""
    return not version or version.startswith("1.") or version == "0.3" or version[:4] == "0.3."


def _why_unusable(refusals: list[str]) -> str:
    if not refusals:
        return "its card names no interface to send messages to"
    return (
        f"its card offers no usable interface ({'; '.join(_each_once(refusals))}); start the agent"
        " so that its card names the address by which it is reached (often --card-url)"
    )


def _each_once(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))
