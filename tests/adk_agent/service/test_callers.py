"""Tokens, and tasks that are kept apart by them."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from adk_agent.core.errors import RequestError
from adk_agent.service.callers import CARD_PATHS, Callers

TOKENS = SecretStr("first-token, second-token")


@pytest.fixture
def address(serve_edge):
    return serve_edge(callers=Callers.of(TOKENS))


def test_the_card_is_public_and_nothing_else(address):
    for path in CARD_PATHS:
        assert httpx.get(address + path).status_code == 200
        assert httpx.post(address + path).status_code == 401
    for method, path in (("POST", "/"), ("POST", "/message:send"), ("GET", "/tasks")):
        answer = httpx.request(method, address + path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == 'Bearer realm="greenroom"'


@pytest.mark.parametrize(
    "given",
    [
        "Bearer wrong",
        "Bearer first-token2",
        "Basic first-token",
        "first-token",
        "Bearer",
    ],
)
def test_a_wrong_token_is_refused_without_being_repeated(address, given):
    answer = httpx.post(address, json={}, headers={"Authorization": given})
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]
    assert "first-token" not in answer.text


def test_two_authorization_headers_are_nobody(address):
    headers = [("Authorization", "Bearer first-token"), ("Authorization", "Bearer second-token")]
    assert httpx.post(address, json={}, headers=headers).status_code == 401


def test_tasks_and_push_configs_of_callers_are_kept_apart(address, connect, edge):
    first, second = connect(address, "first-token"), connect(address, "second-token")
    task = first.send("wait", returnImmediately=True)
    config = {"taskId": task["id"], "url": "http://127.0.0.1:9/hook"}
    made = first.rpc_1_0("CreateTaskPushNotificationConfig", **config)["result"]
    assert made["id"]
    assert first.get(task["id"])["result"]["id"] == task["id"]
    assert len(first.rpc_1_0("ListTasks")["result"]["tasks"]) == 1
    assert second.rpc_1_0("ListTasks")["result"]["tasks"] == []
    for method, params in (
        ("GetTask", {"id": task["id"]}),
        ("CancelTask", {"id": task["id"]}),
        ("SubscribeToTask", {"id": task["id"]}),
        ("SendMessage", {"message": edge.message_1_0(taskId=task["id"])}),
        ("ListTaskPushNotificationConfigs", {"taskId": task["id"]}),
        ("CreateTaskPushNotificationConfig", config),
    ):
        answer = second.rpc_1_0(method, **params)
        assert answer["error"]["code"] == -32001, method
    first.rpc_1_0("CancelTask", id=task["id"])


def test_a_caller_stays_the_same_when_others_come_and_go():
    alone = Callers.of(SecretStr("second-token")).caller(["Bearer second-token"])
    among = Callers.of(TOKENS).caller(["bearer second-token"])
    other = Callers.of(TOKENS).caller(["Bearer first-token"])
    assert alone.user_name == among.user_name != other.user_name
    assert "token" not in alone.user_name


def test_no_token_means_everybody_and_only_commas_are_a_mistake():
    assert not Callers.of(None)
    with pytest.raises(RequestError, match="has commas and no token"):
        Callers.of(SecretStr(" , "))
    with pytest.raises(RequestError, match="token 2 of GREENROOM_AUTH_TOKEN") as caught:
        Callers.of(SecretStr("fine,not fine"))
    assert "not fine" not in str(caught.value)


@given(st.text())
def test_whatever_is_sent_only_a_token_is_a_caller(text):
    callers = Callers.of(TOKENS)
    sent = text.strip()
    if sent.lower() not in ("bearer first-token", "bearer second-token"):
        assert callers.caller([text]) is None
