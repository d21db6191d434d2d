"""Which of a card's interfaces is called."""

import pytest
from a2a.client.card_resolver import parse_agent_card
from a2a.types import AgentCard, AgentInterface

from tau_bridge.a2a.address import AgentAddress
from tau_bridge.a2a.cards import CardError, usable_card
from tau_bridge.a2a.policy import NetworkPolicy

ADDRESS = AgentAddress.parse("http://agents.example:9010")


def card_with(*interfaces: tuple[str, str, str]) -> AgentCard:
    """A card with these interfaces: binding, protocol version, address."""
    return AgentCard(
        name="agent",
        supported_interfaces=[
            AgentInterface(protocol_binding=binding, protocol_version=version, url=url)
            for binding, version, url in interfaces
        ],
    )


def called(card: AgentCard, **options: object) -> tuple[str, str, str]:
    """Binding, protocol version and address of the interface that will be called."""
    usable = usable_card(card, ADDRESS, **{"has_credentials": False, **options})  # type: ignore[arg-type]
    (one,) = usable.supported_interfaces
    return one.protocol_binding, one.protocol_version, one.url


JSONRPC = ("JSONRPC", "1.0", "http://agents.example:9010/rpc")
OLD_JSONRPC = ("JSONRPC", "0.3", "http://agents.example:9010/rpc")
REST = ("HTTP+JSON", "1.0", "http://agents.example:9010/rest")
GRPC = ("GRPC", "1.0", "http://agents.example:50051")
ODD = ("https://bindings.example/websocket", "1.0", "ws://agents.example:9010/")
ELSEWHERE = ("JSONRPC", "1.0", "http://elsewhere.example:9010/")


@pytest.mark.requirement("seam:transport")
@pytest.mark.parametrize(
    ("interfaces", "expected"),
    [
        ((REST, JSONRPC), REST),
        ((JSONRPC, REST), JSONRPC),
        ((GRPC, JSONRPC), GRPC),
        ((JSONRPC, GRPC), JSONRPC),
        # protocol 1.0 comes first within the transport that the card prefers, not across them
        ((OLD_JSONRPC, JSONRPC), JSONRPC),
        ((OLD_JSONRPC, REST), OLD_JSONRPC),
        # what cannot be called is passed over
        ((ODD, GRPC, REST), GRPC),
        ((ELSEWHERE, REST), REST),
        ((ELSEWHERE, REST, JSONRPC), REST),
    ],
)
def test_the_first_interface_of_a_card_that_can_be_called_settles_the_transport(
    interfaces: tuple[tuple[str, str, str], ...], expected: tuple[str, str, str]
) -> None:
    assert called(card_with(*interfaces)) == expected


def test_a_card_of_protocol_0_3_prefers_its_preferred_transport() -> None:
    card = parse_agent_card(
        {
            "name": "agent",
            "version": "1",
            "description": "of 0.3",
            "protocolVersion": "0.3.0",
            "url": "http://agents.example:9010/rest",
            "preferredTransport": "HTTP+JSON",
            "additionalInterfaces": [
                {"transport": "JSONRPC", "url": "http://agents.example:9010/rpc"}
            ],
            "capabilities": {},
            "skills": [],
            "defaultInputModes": ["text"],
            "defaultOutputModes": ["text"],
        }
    )
    assert called(card)[0] == "HTTP+JSON"


def test_an_interface_that_the_policy_forbids_is_passed_over() -> None:
    local = AgentAddress.parse("http://127.0.0.1:9010")
    card = card_with(
        ("GRPC", "1.0", "127.0.0.1:50051"), ("JSONRPC", "1.0", "http://127.0.0.1:9010/")
    )
    policy = NetworkPolicy.public(allowed=("127.0.0.1:9010",))
    usable = usable_card(card, local, has_credentials=False, policy=policy)
    assert usable.supported_interfaces[0].protocol_binding == "JSONRPC"


def test_a_binding_that_is_not_spoken_here_is_passed_over() -> None:
    unusable = {"GRPC": "needs the extra grpc"}
    assert called(card_with(GRPC, REST), unusable=unusable) == REST
    with pytest.raises(CardError, match="'GRPC' needs the extra grpc"):
        called(card_with(GRPC), unusable=unusable)


def test_a_token_passes_over_grpc_on_another_port() -> None:
    assert called(card_with(GRPC, REST), has_credentials=True) == REST
