import pytest

from tau_bridge.a2a.address import AddressError, AgentAddress, endpoint, grpc_endpoint


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:9010", "http://127.0.0.1:9010"),
        ("http://127.0.0.1:9010/", "http://127.0.0.1:9010"),
        (" https://agent.example/a2a/ ", "https://agent.example/a2a"),
        ("http://h:1/.well-known/agent-card.json", "http://h:1"),
        ("http://h:1/role/.well-known/agent-card.json", "http://h:1/role"),
        ("http://h:1/a?key=secret#part", "http://h:1/a"),
        ("http://[::1]:9010/", "http://[::1]:9010"),
    ],
)
def test_an_address_is_reduced_to_its_base(text: str, url: str) -> None:
    assert AgentAddress.parse(text).url == url


@pytest.mark.parametrize("who", ["me:hunter2@", "hunter2@", ":hunter2@", "me:h%40hunter2@", "@"])
def test_an_address_with_credentials_is_refused_without_showing_them(who: str) -> None:
    with pytest.raises(AddressError, match=r"https://agent\.example.*as its credentials") as caught:
        AgentAddress.parse(f"https://{who}agent.example/")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "localhost:9010", "ftp://h/", "http://", "http://h:0/", "http://h:99999/", "/a"]
)
def test_what_is_not_an_http_address_is_refused(text: str) -> None:
    with pytest.raises(AddressError):
        AgentAddress.parse(text)


def test_a_refused_address_does_not_show_its_password() -> None:
    with pytest.raises(AddressError) as caught:
        AgentAddress.parse("ftp://me:hunter2@h/")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "advertised", "called"),
    [
        # the same origin is followed
        ("http://h:9010", "http://h:9010/", "http://h:9010/"),
        ("http://h:9010", "http://h:9010/a2a/v1?tenant=t", "http://h:9010/a2a/v1?tenant=t"),
        ("http://h", "http://h:80/x", "http://h/x"),
        ("http://h:9010", "http://H:9010", "http://h:9010/"),
        # an address that says "here" is put where the user reached the agent
        ("http://10.0.0.5:9010", "http://0.0.0.0:9009/", "http://10.0.0.5:9010/"),
        ("http://10.0.0.5:9010", "http://localhost:9009/a2a", "http://10.0.0.5:9010/a2a"),
        ("https://agent.example", "http://127.0.0.1:8000/", "https://agent.example/"),
        ("http://127.0.0.1:9010", "http://[::1]:9010/rpc", "http://127.0.0.1:9010/rpc"),
        ("http://127.0.0.1:9010", "http://[::]:9010/", "http://127.0.0.1:9010/"),
        # behind a proxy that serves each agent below a path of its own
        ("http://127.0.0.1:8080/agent", "http://0.0.0.0:9009/", "http://127.0.0.1:8080/agent/"),
        (
            "http://127.0.0.1:8080/agent",
            "http://0.0.0.0:9/agent/x",
            "http://127.0.0.1:8080/agent/x",
        ),
        # no address, or only a path
        ("http://h:9010/role", "", "http://h:9010/role/"),
        ("http://h:9010", "/a2a", "http://h:9010/a2a"),
        # the same host
        ("http://h:9010", "http://h:9011/", "http://h:9011/"),
        ("http://h", "https://h/", "https://h/"),
        ("https://h", "http://h/a", "https://h/a"),
    ],
)
def test_the_card_is_followed_as_far_as_it_is_safe(
    given: str, advertised: str, called: str
) -> None:
    assert endpoint(AgentAddress.parse(given), advertised, has_credentials=False) == called


@pytest.mark.parametrize(
    "advertised",
    [
        "http://elsewhere.example/",
        "http://169.254.169.254/latest/meta-data",
        "//elsewhere.example/",
        "http://h:9010@elsewhere.example/",
        "file:///etc/passwd",
        "http://172.17.0.2:9010/",
    ],
)
def test_a_card_cannot_lead_to_another_host(advertised: str) -> None:
    with pytest.raises(AddressError):
        endpoint(AgentAddress.parse("http://h:9010"), advertised, has_credentials=False)


def test_credentials_do_not_travel_to_another_port() -> None:
    given = AgentAddress.parse("http://h:9010")
    with pytest.raises(AddressError, match="the credentials to"):
        endpoint(given, "http://h:9011/", has_credentials=True)
    assert endpoint(given, "http://h:9010/a", has_credentials=True) == "http://h:9010/a"


@pytest.mark.parametrize(
    ("given", "advertised", "called"),
    [
        # the port is the card's, with or without a scheme, and a path means nothing
        ("http://h:9010", "http://h:50051", "http://h:50051"),
        ("http://h:9010", "h:50051", "http://h:50051"),
        ("http://h:9010/agent", "http://H:50051/x", "http://h:50051"),
        ("http://h:9010", "https://h", "https://h:443"),
        ("http://h", "h", "http://h:80"),
        ("http://[::1]:9010", "[::1]:50051", "http://[::1]:50051"),
        # an address that says "here" is put where the user reached the agent
        ("http://10.0.0.5:9010", "0.0.0.0:50051", "http://10.0.0.5:50051"),
        ("http://10.0.0.5:9010", "http://localhost:50051", "http://10.0.0.5:50051"),
        # TLS stays
        ("https://agent.example", "agent.example:50051", "https://agent.example:50051"),
        ("https://agent.example", "https://agent.example:50051", "https://agent.example:50051"),
    ],
)
def test_grpc_is_called_at_the_port_of_the_card(given: str, advertised: str, called: str) -> None:
    assert grpc_endpoint(AgentAddress.parse(given), advertised, has_credentials=False) == called


@pytest.mark.parametrize(
    ("given", "advertised", "has_credentials", "why"),
    [
        ("http://h:9010", "elsewhere:50051", False, "another host"),
        ("http://h:9010", "http://169.254.169.254:80", False, "another host"),
        ("https://h", "http://h:50051", False, "without TLS"),
        ("https://h", "http://0.0.0.0:50051", False, "without TLS"),
        ("http://h:9010", "h:50051", True, "the credentials to"),
        ("http://h:9010", "unix:/run/agent", False, "another host"),
        ("http://h:9010", "dns:///h:50051", False, "not an http"),
        ("http://h:9010", "", False, "not an http"),
    ],
)
def test_an_address_of_grpc_that_leads_elsewhere_is_refused(
    given: str, advertised: str, has_credentials: bool, why: str
) -> None:
    with pytest.raises(AddressError, match=why):
        grpc_endpoint(AgentAddress.parse(given), advertised, has_credentials=has_credentials)


def test_a_token_goes_along_by_grpc_to_the_port_of_the_card() -> None:
    address = AgentAddress.parse("https://agent.example")
    called = grpc_endpoint(address, "agent.example:443", has_credentials=True)
    assert called == "https://agent.example:443"
