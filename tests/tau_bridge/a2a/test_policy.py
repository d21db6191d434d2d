"""Which URLs may be called, and where the connection then goes."""

import contextlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.policy import Gate, NetworkPolicy
from tau_bridge.a2a.screening import is_allowed
from tau_bridge.errors import AgentForbiddenError, AgentUnreachableError
from tau_bridge.recorder import TraceRecorder
from tests.fakes import RequestLog, scripted_agent

from .conftest import Serving

OPEN, PUBLIC = NetworkPolicy.open(), NetworkPolicy.public()


class Names:
    """A resolver with answers of its own. Each look-up takes the next one; the last stays."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[str, int]] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append((host, port))
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


NEVER = [
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.1.1/",
    "http://[fe80::1]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://0177.0.0.1/",
    "http://169.254.169.254./",
    "http://[::ffff:169.254.169.254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://METADATA.google.internal./",
    "http://metadata/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://0.1.2.3/",
    "http://me:hunter2@agents.example/",
    "http://hunter2@8.8.8.8/",
    "http://agents.example\\@8.8.8.8/",
    "ftp://agents.example/",
    "file:///etc/passwd",
    "gopher://agents.example/",
    "agents.example",
    "//agents.example/",
    "http://",
    "http:///path",
    "http://agents.example:0/",
    "http://agents.example:99999/",
    "http://agents example/",
    "http://agents.example\r\nX: y/",
    "http://[::1/",
    "http://[fe80::1%25eth0]/",
    "http://256.256.256.256/",
    "http://１６９.254.169.254/",
    "http://" + "a" * 300 + ".example/",
    "",
]

ON_REQUEST = [
    "http://127.0.0.1:9010/",
    "http://localhost:9010/",
    "http://LOCALHOST./",
    "http://agent.localhost/",
    "http://[::1]:9010/",
    "http://0.0.0.0:9010/",
    "http://[::]/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://[::ffff:127.0.0.1]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.0.1:8080/",
    "http://100.64.0.1/",
    "http://[fc00::1]/",
    "http://[64:ff9b::a00:1]/",
]


@pytest.mark.parametrize("url", NEVER)
@pytest.mark.parametrize("policy", [OPEN, PUBLIC])
def test_what_nobody_may_call_is_refused_by_every_policy(policy: NetworkPolicy, url: str) -> None:
    with pytest.raises(AgentForbiddenError) as caught:
        policy.check_url(url)
    assert "hunter2" not in str(caught.value) + caught.value.url


@given(st.text() | st.text().map("http://{}".format) | st.text().map("http://{}/@".format))
def test_no_text_breaks_the_check(url: str) -> None:
    for policy in (OPEN, PUBLIC):
        with contextlib.suppress(AgentForbiddenError):
            policy.check_url(url)


def test_names_that_are_not_what_they_claim_are_judged_when_they_are_looked_up() -> None:
    for url in ("http://xn--a/", "http://bücher.example/", "http://a_b.example/"):
        OPEN.check_url(url)


@pytest.mark.parametrize("url", ON_REQUEST)
def test_this_machine_and_private_networks_are_for_the_command_line(url: str) -> None:
    OPEN.check_url(url)
    with pytest.raises(AgentForbiddenError, match="GREENROOM_ALLOWED_HOSTS"):
        PUBLIC.check_url(url)


@pytest.mark.parametrize(
    "url", ["https://agents.example/a2a", "http://8.8.8.8:9010/", "http://[2606:4700::1111]/"]
)
def test_public_addresses_and_names_pass(url: str) -> None:
    PUBLIC.check_url(url)
    OPEN.check_url(url)


@pytest.mark.parametrize(
    ("entry", "passes", "fails"),
    [
        ("127.0.0.1:8080", "http://127.0.0.1:8080/green/", "http://127.0.0.1:8081/"),
        ("127.0.0.1:8080", "http://2130706433:8080/", "http://[::1]:8080/"),
        ("127.0.0.1", "http://127.0.0.1:1/", "http://127.0.0.2:1/"),
        ("localhost", "http://localhost:9010/", "http://127.0.0.1:9010/"),
        ("localhost:80", "http://localhost/", "https://localhost/"),
        ("10.1.0.0/16", "http://10.1.255.255/", "http://10.2.0.0/"),
        ("10.1.2.3/16", "http://10.1.0.9/", "http://10.2.0.0/"),
        ("10.1.0.0/16", "http://[::ffff:10.1.0.1]/", "http://[::ffff:10.2.0.1]/"),
        ("[::1]:9000", "http://[::1]:9000/", "http://[::1]:9001/"),
        ("::1", "http://[::1]/", "http://[::]/"),
        ("[fd00::]", "http://[fd00::]:5/", "http://[fd00::1]/"),
        ("169.254.169.254", "http://169.254.169.254/", "http://169.254.169.253/"),
        ("Metadata", "http://metadata/", "http://metadata.goog/"),
    ],
)
def test_an_entry_allows_what_it_names_and_no_more(entry: str, passes: str, fails: str) -> None:
    policy = NetworkPolicy.public(allowed=[entry])
    policy.check_url(passes)
    with pytest.raises(AgentForbiddenError):
        policy.check_url(fails)


@pytest.mark.parametrize(
    "entry", ["", "http://a.example", "a b", "10.0.0.0/33", "a:port", "a:0", "[::1]x", "*.example"]
)
def test_an_entry_that_cannot_be_one_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match=r"is not a host that can be allowed"):
        NetworkPolicy.public(allowed=[entry])


@pytest.mark.parametrize(
    ("network", "secret", "passes"),
    [
        ("100.64.0.0/10", "http://100.100.100.200/", "http://100.100.100.201/"),
        ("fc00::/7", "http://[fd00:ec2::254]/", "http://[fd00:aaaa::254]/"),
        ("0.0.0.0/0", "http://169.254.169.254/", "http://10.0.0.1/"),
        ("0.0.0.0/0", "http://[::ffff:169.254.169.254]/", "http://[::ffff:10.0.0.1]/"),
        ("::/0", "http://[fe80::1]/", "http://[::1]/"),
        ("169.254.0.0/16", "http://169.254.0.1/", "http://8.8.8.8/"),
        ("224.0.0.0/3", "http://224.0.0.1/", "http://8.8.8.8/"),
    ],
)
def test_a_network_does_not_allow_the_secrets_that_lie_in_it(
    network: str, secret: str, passes: str
) -> None:
    for policy in (NetworkPolicy.public(allowed=[network]), NetworkPolicy.open(allowed=[network])):
        policy.check_url(passes)
        with pytest.raises(AgentForbiddenError, match="adds that very address"):
            policy.check_url(secret)


def test_a_network_of_one_address_is_that_address() -> None:
    NetworkPolicy.public(allowed=["169.254.169.254/32"]).check_url("http://169.254.169.254/")


def test_a_url_can_be_allowed_by_whoever_made_it() -> None:
    policy = PUBLIC.allowing("http://[::1]:9000/a").allowing("https://localhost/b")
    assert policy == NetworkPolicy.public(allowed=["[::1]:9000", "localhost:443"])


def test_a_refusal_says_what_why_and_what_to_configure() -> None:
    with pytest.raises(AgentForbiddenError) as caught:
        PUBLIC.check_url("http://10.0.0.1:9010/a2a")
    assert str(caught.value) == (
        "'http://10.0.0.1:9010/a2a' may not be called, because its host is an address of a private"
        " network; to allow it, the operator of the assessor adds '10.0.0.1:9010' to"
        " GREENROOM_ALLOWED_HOSTS"
    )


async def test_one_bad_address_among_good_ones_refuses_the_name() -> None:
    names = Names(["8.8.8.8", "10.0.0.7"])
    with pytest.raises(AgentForbiddenError, match="leads to an address of a private") as caught:
        await PUBLIC.resolve("agents.example", 80, resolver=names)
    # A stranger does not learn what the names inside lead to.
    assert "10.0.0.7" not in str(caught.value)
    assert await OPEN.resolve("agents.example", 80, resolver=names) == ("8.8.8.8", "10.0.0.7")


@pytest.mark.parametrize("address", ["10.0.0.7", "127.0.0.1"])
async def test_a_name_that_is_allowed_may_lead_inside(address: str) -> None:
    policy = NetworkPolicy.public(allowed=["agents.example:80"])
    assert await policy.resolve("agents.example", 80, resolver=Names([address])) == (address,)
    with pytest.raises(AgentForbiddenError):
        await policy.resolve("agents.example", 81, resolver=Names([address]))


async def test_a_name_that_is_allowed_may_not_lead_to_a_clouds_secrets() -> None:
    policy = NetworkPolicy.public(allowed=["agents.example"])
    with pytest.raises(AgentForbiddenError, match="that very address"):
        await policy.resolve("agents.example", 80, resolver=Names(["169.254.169.254"]))


@pytest.mark.parametrize("answer", [[], ["nonsense"]])
async def test_a_name_that_leads_nowhere_is_an_error_of_the_system(answer: list[str]) -> None:
    with pytest.raises(OSError, match="the name leads to"):
        await OPEN.resolve("agents.example", 80, resolver=Names(answer))


async def test_an_address_is_not_looked_up() -> None:
    names = Names(["8.8.8.8"])
    assert await OPEN.resolve("0x7f000001", 80, resolver=names) == ("127.0.0.1",)
    assert names.asked == []


async def test_a_gate_asks_once_and_holds_every_port_to_the_first_answer() -> None:
    names = Names(["8.8.8.8", "1.1.1.1"], ["10.0.0.1"])
    gate = Gate(PUBLIC, resolver=names)
    for port in (80, 80, 81):
        assert await gate.addresses("agents.example", port, url="u") == ("8.8.8.8", "1.1.1.1")
    gate.prefer("agents.example", 80, "1.1.1.1")
    assert await gate.addresses("agents.example", 80, url="u") == ("1.1.1.1", "8.8.8.8")
    assert names.asked == [("agents.example", 80)]


async def test_a_gate_asks_again_after_a_refusal() -> None:
    gate = Gate(PUBLIC, resolver=Names(["10.0.0.1"], ["8.8.8.8"]))
    with pytest.raises(AgentForbiddenError):
        await gate.addresses("agents.example", 80, url="u")
    assert await gate.addresses("agents.example", 80, url="u") == ("8.8.8.8",)


# --- The messenger ------------------------------------------------------------------------------


def echo(text: str, _: str) -> str:
    return text


async def test_a_forbidden_agent_is_not_called_and_its_step_says_so(
    serving: Serving, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    url = serving(log)
    messenger = Messenger(policy=PUBLIC)
    with pytest.raises(AgentForbiddenError) as caught:
        await messenger.conversation(url, recorder=recorder).send("hello")
    with pytest.raises(AgentForbiddenError):
        await messenger.card(url)
    await messenger.aclose()
    assert caught.value.url == url
    (step,) = recorder.trace().steps
    assert step.error == f"AgentForbiddenError: {caught.value}"
    assert log.requests == []


async def test_an_agent_of_our_own_may_be_called_at_its_port_alone(
    serving: Serving, recorder: TraceRecorder
) -> None:
    ours, other = serving(scripted_agent(echo)), serving(scripted_agent(echo))
    messenger = Messenger(policy=PUBLIC)
    messenger.allow(ours)
    assert (await messenger.conversation(ours, recorder=recorder).send("hello")).text == "hello"
    with pytest.raises(AgentForbiddenError):
        await messenger.conversation(other, recorder=recorder).send("hello")
    await messenger.aclose()


async def test_a_name_is_looked_up_once_and_cannot_be_turned_to_another_place(
    serving: Serving, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    port = port_of(serving(log))
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    messenger = Messenger(resolver=names)
    conversation = messenger.conversation(f"http://agents.example:{port}", recorder=recorder)
    for word in ("one", "two"):
        assert (await conversation.send(word)).text == word
    await messenger.aclose()
    assert names.asked == [("agents.example", port)]
    assert {seen.headers["host"] for seen in log.requests} == {f"agents.example:{port}"}


async def test_the_first_address_that_answers_is_used_from_then_on(
    serving: Serving, recorder: TraceRecorder
) -> None:
    log = RequestLog(scripted_agent(echo))
    port = port_of(serving(log))
    messenger = Messenger(resolver=Names(["127.0.0.2", "127.0.0.3", "127.0.0.1"]))
    conversation = messenger.conversation(f"http://agents.example:{port}", recorder=recorder)
    for word in ("one", "two"):
        assert (await conversation.send(word)).text == word
    await messenger.aclose()
    assert len({seen.client_port for seen in log.requests}) == 1


async def test_a_name_that_nobody_knows_is_unreachable(recorder: TraceRecorder) -> None:
    async def unknown(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    messenger = Messenger(resolver=unknown)
    with pytest.raises(AgentUnreachableError, match="Name or service not known"):
        await messenger.conversation("http://agents.example", recorder=recorder).send("hello")
    await messenger.aclose()


async def test_a_card_leads_to_another_port_of_a_host_only_where_that_is_allowed(
    serving: Serving,
) -> None:
    url = serving(scripted_agent(echo, interface_url="http://agents.example:1/"))
    place = f"agents.example:{port_of(url)}"
    strict = NetworkPolicy.public(allowed=[place])
    for policy, is_usable in [(OPEN, True), (strict, True), (PUBLIC, False)]:
        messenger = Messenger(policy=policy, resolver=Names(["127.0.0.1"]))
        if is_usable:
            # What the name leads to is found out when a message goes there.
            assert (await messenger.card(f"http://{place}")).endpoint == "http://agents.example:1/"
        else:
            with pytest.raises(AgentForbiddenError):
                await messenger.card(f"http://{place}")
        await messenger.aclose()


async def test_a_message_does_not_go_to_a_port_that_is_not_allowed(
    serving: Serving, recorder: TraceRecorder
) -> None:
    other = RequestLog(scripted_agent(echo))
    port = port_of(serving(other))
    url = serving(scripted_agent(echo, interface_url=f"http://agents.example:{port}/"))
    place = f"agents.example:{port_of(url)}"
    policy = NetworkPolicy.public(allowed=[place])
    messenger = Messenger(policy=policy, resolver=Names(["127.0.0.1"]))
    with pytest.raises(AgentForbiddenError, match=f"'agents.example:{port}'"):
        await messenger.conversation(f"http://{place}", recorder=recorder).send("hello")
    await messenger.aclose()
    assert other.requests == []


async def test_a_card_with_no_address_that_is_allowed_is_refused(serving: Serving) -> None:
    app = scripted_agent(echo, interface_url="http://agents.example:1/")
    url = serving(app).replace("127.0.0.1", "localhost")
    other = serving(scripted_agent(echo, interface_url=f"{url.rpartition(':')[0]}:1/"))
    place = other.replace("127.0.0.1", "localhost")
    policy = NetworkPolicy.public(allowed=[place.removeprefix("http://")])
    messenger = Messenger(policy=policy)
    assert (await messenger.card(place)).endpoint == f"{place}/"  # behind a proxy, so it stays
    await messenger.aclose()


# --- Single calls -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "answer", "verdict"),
    [
        ("https://agents.example/push", ["8.8.8.8"], True),
        ("https://agents.example/push", ["8.8.8.8", "10.0.0.1"], False),
        ("http://8.8.8.8/", [], True),
        ("http://127.0.0.1/", [], False),
        ("http://agents.example/", [], False),
        ("http://me@agents.example/", ["8.8.8.8"], False),
        ("nonsense", [], False),
    ],
)
async def test_a_url_is_allowed_or_not(url: str, answer: list[str], verdict: bool) -> None:
    assert await is_allowed(PUBLIC, url, resolver=Names(answer)) is verdict
