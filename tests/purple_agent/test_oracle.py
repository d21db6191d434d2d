"""What the oracle plays, without any transport."""

import json

import pytest

from purple_agent import wire
from purple_agent.conversation import Turn
from purple_agent.errors import GoldScriptError, RejectedError
from purple_agent.oracle import (
    CLOSING_QUESTION,
    GoldAction,
    GoldScript,
    OracleAgent,
    parse_scripts,
    request_of_user_tool,
)

SCRIPTS = parse_scripts(
    json.dumps(
        {
            "telecom/roaming": {
                "opening": "My data does not work abroad",
                "actions": [
                    {"requestor": "assistant", "name": "get_line", "arguments": {"id": "L1"}},
                    {"requestor": "user", "name": "toggle_roaming", "arguments": {}},
                ],
                "communicate": ["$12.50", "two days"],
            },
            "airline/1": {"opening": "Cancel my flight"},
            "airline/2": {"opening": "Cancel my flight, please"},
        }
    )
)


class Caller:
    """Talks to one agent in one conversation, with a fresh message id a turn."""

    def __init__(self, agent, context_id="c1"):
        self.agent = agent
        self.context_id = context_id
        self.sent = 0

    def say(self, text, *, task=None, message_id=None):
        self.sent += 1
        turn = Turn(
            context_id=self.context_id,
            message_id=message_id or f"m{self.sent}",
            text=text,
            task=task,
        )
        return json.loads(self.agent.reply(turn))


def begin(*, tools=(), user="anything"):
    listed = json.dumps([{"type": "function", "function": {"name": name}} for name in tools])
    return f"policy\n{wire.TOOLS_LINE}\n{listed}\n{wire.USER_LINE}\n{user}"


def test_the_gold_actions_come_in_order_then_the_closing_text_for_ever():
    caller = Caller(OracleAgent(SCRIPTS))
    first = caller.say(begin(), task="telecom/roaming")
    second = caller.say("Error: no such line")
    third = caller.say("I ran it.")
    assert first == {"name": "get_line", "arguments": {"id": "L1"}}
    assert second == wire_respond(
        "Please run the tool toggle_roaming() on your phone now and tell me the result."
    )
    content = third["arguments"]["content"]
    assert third["name"] == "respond"
    assert "$12.50" in content
    assert "two days" in content
    assert content.endswith(CLOSING_QUESTION)
    assert caller.say("No, thanks") == third


def wire_respond(content):
    return {"name": "respond", "arguments": {"content": content}}


def test_an_answer_is_said_word_for_word_in_place_of_the_closing_text():
    script = GoldScript(
        actions=(GoldAction(name="count"),), communicate=("two days",), answer=" 3, as is "
    )
    caller = Caller(OracleAgent({"shop/1": script}))
    assert caller.say(begin(), task="shop/1")["name"] == "count"
    assert caller.say("3") == wire_respond(" 3, as is ")


def test_arguments_of_a_user_tool_are_python_literals():
    action = GoldAction(
        requestor="user", name="set_apn", arguments={"name": "it's", "on": True, "n": None, "x": 2}
    )
    assert request_of_user_tool(action) == (
        'Please run the tool set_apn(name="it\'s", on=True, n=None, x=2) '
        "on your phone now and tell me the result."
    )


def test_in_solo_mode_user_actions_are_tool_calls_and_done_ends_it():
    caller = Caller(OracleAgent(SCRIPTS))
    replies = [
        caller.say(begin(tools=("get_line", "toggle_roaming", "done")), task="telecom/roaming"),
        *[caller.say("Tool result") for _ in range(3)],
    ]
    assert [reply["name"] for reply in replies] == ["get_line", "toggle_roaming", "done", "done"]


def test_without_metadata_the_only_opening_in_the_users_text_decides():
    caller = Caller(OracleAgent(SCRIPTS))
    reply = caller.say(begin(user="Hi! My data does not work abroad. Help!"))
    assert reply["name"] == "get_line"


def test_an_opening_in_the_policy_is_not_the_users():
    with pytest.raises(RejectedError, match="does not recognise the task"):
        Caller(OracleAgent(SCRIPTS)).say(f"Cancel my flight\n{wire.USER_LINE}\nHello")


def test_several_openings_in_the_users_text_are_rejected_and_named():
    with pytest.raises(RejectedError, match=r"2 known openings .*'airline/1', 'airline/2'"):
        Caller(OracleAgent(SCRIPTS)).say(begin(user="Cancel my flight, please"))


def test_a_script_without_an_opening_is_never_recognised():
    with pytest.raises(RejectedError, match="does not recognise"):
        Caller(OracleAgent({"mock/1": GoldScript(), "mock/2": GoldScript(opening="")})).say("Hi")


def test_an_unknown_task_is_rejected_with_the_nearest_names():
    with pytest.raises(RejectedError, match=r"'airline/3'.*did you mean 'airline/"):
        Caller(OracleAgent(SCRIPTS)).say(begin(), task="airline/3")


def test_conversations_do_not_share_state():
    agent = OracleAgent(SCRIPTS)
    one, two = Caller(agent, "one"), Caller(agent, "two")
    one.say(begin(), task="telecom/roaming")
    one.say("x")
    assert two.say(begin(), task="telecom/roaming")["name"] == "get_line"


def test_a_message_sent_again_gets_the_same_reply_and_moves_nothing():
    caller = Caller(OracleAgent(SCRIPTS))
    first = caller.say(begin(), task="telecom/roaming", message_id="same")
    assert caller.say(begin(), task="telecom/roaming", message_id="same") == first
    assert "toggle_roaming" in caller.say("Tool result")["arguments"]["content"]


def test_the_conversation_that_was_quiet_for_longest_is_forgotten_first():
    agent = OracleAgent(SCRIPTS, max_conversations=2)
    one, two, three = (Caller(agent, name) for name in ("one", "two", "three"))
    one.say(begin(), task="telecom/roaming")
    two.say(begin(), task="telecom/roaming")
    one.say("x")
    three.say(begin(), task="telecom/roaming")
    assert one.say("x")["name"] == "respond"
    with pytest.raises(RejectedError):
        two.say("x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the whole: Invalid JSON"),
        ("[]", "the whole"),
        ('{"a/1": {"actions": [{"name": "x", "secret": 1}]}}', "a/1 -> actions -> 0 -> secret"),
        ('{"a/1": {"actions": [{"requestor": "judge", "name": "x"}]}}', "requestor"),
    ],
)
def test_gold_scripts_that_cannot_be_read_say_where(text, message):
    with pytest.raises(GoldScriptError, match="gold scripts cannot be read") as caught:
        parse_scripts(text)
    assert message in str(caught.value)
