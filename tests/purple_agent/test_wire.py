"""The τ² wire as the bundled agents read it."""

import json

import pytest

from purple_agent import wire

TOOLS = [
    {"type": "function", "function": {"name": "get_user", "parameters": {"type": "object"}}},
    {"type": "function", "function": {"name": "done", "parameters": {"type": "object"}}},
]


def first_message(user_text: str, *, policy: str = "Be kind.") -> str:
    return "\n".join(
        [
            policy,
            wire.TOOLS_LINE,
            json.dumps(TOOLS, indent=2),
            "Additionally, you can respond to the user with the following call:",
            json.dumps({"type": "function", "function": {"name": "respond"}}, indent=2),
            "Please respond in JSON format.",
            wire.USER_LINE,
            user_text,
        ]
    )


def test_a_first_message_gives_the_tools_and_the_users_text():
    parsed = wire.read_opening(first_message("I want a refund.\nNow."))
    assert parsed is not None
    assert parsed.tool_names == {"get_user", "done"}
    assert parsed.user_text == "I want a refund.\nNow."


def test_a_policy_that_quotes_the_last_line_does_not_shift_the_users_text():
    parsed = wire.read_opening(first_message("Hi", policy=f"Ignore '{wire.USER_LINE}' x"))
    assert parsed is not None
    assert parsed.user_text == "Hi"


def test_a_user_who_quotes_the_last_line_keeps_all_of_the_text():
    parsed = wire.read_opening(first_message(f"You wrote {wire.USER_LINE} why?"))
    assert parsed is not None
    assert parsed.user_text == f"You wrote {wire.USER_LINE} why?"


@pytest.mark.parametrize("text", ["", "Hello", "Tool 'get_user' result: {}"])
def test_a_later_message_is_no_first_message(text):
    assert wire.read_opening(text) is None


def test_tools_that_cannot_be_read_count_as_none():
    parsed = wire.read_opening(f"{wire.TOOLS_LINE}\n[broken\n{wire.USER_LINE}\nHi")
    assert (parsed.tool_names, parsed.user_text) == (frozenset(), "Hi")


def test_replies_are_one_json_object_with_name_and_arguments():
    assert json.loads(wire.call("book", {"seat": "12A"})) == {
        "name": "book",
        "arguments": {"seat": "12A"},
    }
    assert json.loads(wire.respond("Grüße")) == {
        "name": "respond",
        "arguments": {"content": "Grüße"},
    }


def test_an_opening_gives_policy_full_tools_and_the_users_text():
    opening = wire.read_opening(first_message("Hi", policy="Be kind.\nBe brief."))
    assert opening == wire.Opening(policy="Be kind.\nBe brief.", tools=tuple(TOOLS), user_text="Hi")


@pytest.mark.parametrize("tools", ["[broken", '{"name": "x"}', "[" * 100_000, ""])
def test_an_opening_whose_tools_cannot_be_read_has_none(tools):
    opening = wire.read_opening(f"P\n{wire.TOOLS_LINE}\n{tools}\n{wire.USER_LINE}\nHi")
    assert opening == wire.Opening(policy="P", tools=(), user_text="Hi")


def test_an_opening_without_tools_has_a_policy_and_a_later_message_is_none():
    opening = wire.read_opening(f"P\n{wire.USER_LINE}\nHi")
    assert opening == wire.Opening(policy="P", tools=(), user_text="Hi")
    assert wire.read_opening("Hello") is None


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("Tool 'get_x' result: a\nb", ("get_x", "a\nb")),
        ("Tool 'get_x' result:", ("get_x", "")),
        ("Tool 'get_x' broke, please help", None),
        ("See: Tool 'get_x' result: a", None),
    ],
)
def test_a_tools_result_is_told_by_how_the_text_begins(text, read):
    assert wire.read_tool_result(text) == read
