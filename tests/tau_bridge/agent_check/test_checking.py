"""A whole check: what is sent, and the verdict."""

import pytest

from tau_bridge.a2a.credentials import Credentials
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.errors import AgentForbiddenError
from tests.fakes import RequestLog, closed_port, fails, hanging_card, hangs, rejects
from tests.fakes.shop import shop_agent, wants_token, with_card


async def test_a_good_agent_is_ready_and_every_check_is_ok(check, of):
    result = await check(shop_agent(bindings=("JSONRPC", "HTTP+JSON")))
    assert result.verdict == "ready"
    assert {each.status for each in result.checks} == {"ok"}
    assert "called get_order_status, as bare JSON" in of(result, "text_wire")
    assert "said in the first message only" in of(result, "context")
    for name in ("JSONRPC 1.0", "JSONRPC 0.3", "HTTP+JSON 1.0", "HTTP+JSON 0.3"):
        assert f"{name} answered" in of(result, "interfaces")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"protocols": ("1.0",)}, 3),
        ({"protocols": ("1.0",), "streaming": False}, 3),
        ({"protocols": ("1.0", "0.3")}, 3),
        ({"protocols": ("1.0", "0.3"), "bindings": ("JSONRPC", "HTTP+JSON")}, 5),
    ],
)
async def test_three_messages_are_sent_or_one_more_than_there_are_interfaces(
    check, options, expected
):
    agent = RequestLog(shop_agent(**options))
    result = await check(agent)
    assert result.messages_sent == len(agent.posts) == expected
    assert result.verdict == "ready"


async def test_where_nothing_listens_the_agent_is_unreachable_and_nothing_else_is_checked(
    target, of
):
    from tau_bridge.agent_check.checking import check_agent

    with closed_port() as url:
        result = await check_agent(target(url))
    assert result.verdict == "unreachable"
    assert result.agent_name is None
    assert "start the agent" in of(result, "reach")
    assert {each.status for each in result.checks[1:]} == {"skipped"}


async def test_a_card_that_never_comes_is_unreachable(check):
    limits = MessengerLimits(card_timeout_s=0.3)
    assert (await check(hanging_card(), limits=limits)).verdict == "unreachable"


async def test_a_forbidden_address_is_not_called(target):
    from tau_bridge.agent_check.checking import check_agent

    with pytest.raises(AgentForbiddenError):
        await check_agent(target("http://169.254.169.254"))


async def test_an_agent_that_fails_its_tasks_is_not_ready(check, of, statuses):
    result = await check(fails("the model is gone"))
    assert result.verdict == "fails"
    assert statuses(result) == {"interfaces": "fails"}
    assert "the model is gone" in of(result, "interfaces")


async def test_an_agent_that_rejects_the_message_gets_a_warning(check, statuses):
    result = await check(rejects("not my business"))
    assert result.verdict == "ready"
    assert statuses(result) == {"interfaces": "warning"}


async def test_after_a_message_without_a_reply_no_other_is_sent(check, of):
    agent = RequestLog(hangs())
    limits = MessengerLimits(timeout_s=0.3, cancel_timeout_s=0.1)
    result = await check(agent, limits=limits)
    assert result.messages_sent == 1
    assert "gave no reply within 0.3 s" in of(result, "interfaces")


async def test_a_token_is_sent_and_seen_nowhere(check):
    token = "a-secret-of-many-letters"
    app = with_card(
        wants_token(shop_agent(), token), lambda card: card.update(name=f"I know {token}")
    )
    result = await check(app, credentials=Credentials.of_bearer(token))
    assert result.verdict == "ready"
    assert token not in result.model_dump_json()
