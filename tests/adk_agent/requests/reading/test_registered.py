"""The names of registered agents in requests."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.requests.reader import Refusal

SHOP, DESK = "http://127.0.0.1:9010", "https://desk.example/a2a"
REGISTERED = {"shop-bot": SHOP, "shop-bot-2": DESK}


def addresses_of(read, text, registered=REGISTERED):
    return [each.address for each in read(text, registered).participants]


@pytest.mark.parametrize(
    ("sentence", "agents"),
    [
        ("Evaluate shop-bot on five airline tasks", [SHOP]),
        ("Evaluate the agent Shop-Bot on five airline tasks.", [SHOP]),
        ("Please run 'shop-bot' on 5 airline tasks, two trials each", [SHOP]),
        ("Evaluate shop-bot and shop-bot-2 on five airline tasks", [SHOP, DESK]),
        ("Compare shop-bot with builtin:null on five airline tasks", [SHOP, "builtin:null"]),
        ("Evaluate shop-bot on five airline tasks, do not contact shop-bot-2", [SHOP]),
        (f"Register {SHOP} as shop-bot and evaluate it on five airline tasks", [SHOP]),
        ("Evaluate http://shop-bot:9010 on five airline tasks", ["http://shop-bot:9010"]),
        ("Evaluate http://h:1/shop-bot on five airline tasks", ["http://h:1/shop-bot"]),
    ],
)
def test_a_sentence_may_name_a_registered_agent(read, sentence, agents):
    request = read(sentence, REGISTERED)
    assert [each.address for each in request.participants] == agents
    assert (request.selections[0].domain, request.selections[0].num_tasks) == ("airline", 5)


def test_a_name_that_nobody_registered_is_no_agent(read):
    with pytest.raises(Refusal) as caught:
        read("Evaluate shop-bot on five airline tasks")
    assert caught.value.code == "no-agent"


def test_agentbeats_json_may_name_registered_agents(read):
    config = {"domain": "mock", "num_tasks": 1}
    participants = {"agent": "shop-bot", "other": " SHOP-BOT-2 ", "base": "builtin:null"}
    text = json.dumps({"participants": participants, "config": config})
    assert addresses_of(read, text) == [SHOP, DESK, "builtin:null"]
    for wrong in ({"agent": "shop-cat"}, {"agent": 7}, ["shop-bot"], "shop-bot"):
        with pytest.raises(Refusal):
            read(json.dumps({"participants": wrong, "config": config}), REGISTERED)


@given(st.text(max_size=60))
def test_a_request_without_a_registered_name_reads_as_before(read, text):
    def what_is_read(registered):
        try:
            return read(text, registered)
        except Refusal as refusal:
            return str(refusal)

    if "shop-bot" not in text.lower():
        assert what_is_read(REGISTERED) == what_is_read({})
