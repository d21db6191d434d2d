"""The τ² wire: what is sent word for word, and every shape of reply that is understood."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge import wire
from tau_bridge.wire import ParsedCall, example_replies, first_message, parse_reply

CALL = {"name": "get_order", "arguments": {"order_id": "#W1"}}
PARSED = (ParsedCall(name="get_order", arguments={"order_id": "#W1"}),)
BARE = json.dumps(CALL)
TOOL = {
    "type": "function",
    "function": {"name": "get_order", "description": "Shows an order — élan.", "parameters": {}},
}


def test_the_first_message_holds_policy_tools_and_messages_between_the_four_lines():
    text = first_message("# Policy\nBe kind.", [TOOL], ["Hi! How can I help you today?", "Hello"])

    lines = text.split("\n")
    at = [
        lines.index("Here's a list of tools you can use (you can use at most one tool at a time):"),
        lines.index("Additionally, you can respond to the user with the following call:"),
        lines.index("Please respond in JSON format."),
        lines.index("Now here are the user messages:"),
    ]
    assert at == sorted(at)
    assert text.startswith("# Policy\nBe kind.\n")
    assert "\n".join(lines[at[0] + 1 : at[1]]).strip() == json.dumps([TOOL], indent=2)
    respond = json.loads("\n".join(lines[at[1] + 1 : at[2]]))
    assert respond["function"]["name"] == "respond"
    assert list(respond["function"]["parameters"]["properties"]) == ["content"]
    assert lines[at[3] + 1 :] == ["Hi! How can I help you today?", "Hello"]


def test_the_two_examples_of_the_first_message_are_replies_that_need_no_repair():
    text = first_message("p", [], ["hello"])
    section = text[text.index(wire.FORMAT_LINE) : text.index(wire.MESSAGES_LINE)]

    examples = [
        parse_reply(json.dumps(value))
        for _, _, value, _ in wire._json_values(section)
        if isinstance(value, dict)
    ]

    assert [(example.kind, example.repairs) for example in examples] == [
        ("tool_calls", ()),
        ("respond", ()),
    ]


INSTRUCTIONS = {
    "tools cost little, to be used when necessary": r"tool call costs little.*necessary",
    "most tasks need tools and responses": r"Most tasks.*both.*tools.*respond",
    "one tool at a time": r"Never call more than one tool at a time!",
    "no tool beside a response": r"Never respond.*message.*call a tool!",
    "what name holds": r'"name": the tool to call, or "respond"',
    "what arguments hold": r'"arguments": an object with the arguments',
}


@pytest.mark.parametrize("told", INSTRUCTIONS)
def test_the_first_message_says_after_the_format_line_that(told):
    section = first_message("p", [], ["hello"]).partition(f"{wire.FORMAT_LINE}\n")[2]
    assert re.search(INSTRUCTIONS[told], section.partition(wire.MESSAGES_LINE)[0])


def test_to_respond_is_described_as_what_is_done_instead_of_calling_a_tool():
    text = first_message("p", [], ["hello"])
    schema = json.loads(text.partition(f"{wire.RESPOND_LINE}\n")[2].partition(wire.FORMAT_LINE)[0])
    assert "instead of calling a tool" in schema["function"]["description"]


SHAPES = {
    "bare": (BARE, ()),
    "bare, indented": (json.dumps(CALL, indent=2) + "\n", ()),
    "bare with a thought beside": (json.dumps({"thinking": "so", **CALL}), ()),
    "fenced": (f"```json\n{BARE}\n```", ("fenced",)),
    "fenced without a label": (f"```\n{BARE}\n```", ("fenced",)),
    "fenced amid text": (
        f"I will look.\n```json\n{BARE}\n```\nDone.",
        ("fenced", "surrounding_text"),
    ),
    "tags": (f"<json>\n{BARE}\n</json>", ("json_tags",)),
    "tags amid text": (f"Look: <json>{BARE}</json>", ("json_tags", "surrounding_text")),
    "text around": (f"Let me see {BARE} ok?", ("surrounding_text",)),
    "braces before": (f"Use {{curly}} and [1] then {BARE}", ("surrounding_text",)),
    "think block": (f"<think>maybe {{}} or {BARE[:9]}</think>\n{BARE}", ("think_block",)),
    "end of a think block": (f"perhaps.</think>{BARE}", ("think_block",)),
    "thinking block and fence": (
        f"<thinking>x</thinking>```json\n{BARE}```",
        ("think_block", "fenced"),
    ),
    "list of one": (json.dumps([CALL]), ("list",)),
    "tool_call": (json.dumps({"tool_call": CALL}), ("tool_call_wrapper",)),
    "tool_calls": (json.dumps({"tool_calls": [CALL]}), ("tool_calls_wrapper",)),
    "OpenAI": (
        json.dumps(
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "call_x",
                        "type": "function",
                        "function": {
                            "name": "get_order",
                            "arguments": json.dumps(CALL["arguments"]),
                        },
                    }
                ],
            }
        ),
        ("tool_calls_wrapper", "function_shape", "arguments_as_text"),
    ),
    "kwargs": (json.dumps({"name": "get_order", "kwargs": CALL["arguments"]}), ("kwargs",)),
    "parameters": (
        json.dumps({"name": "get_order", "parameters": CALL["arguments"]}),
        ("arguments_renamed",),
    ),
    "parameters of a typed function": (
        json.dumps({"type": "function", "name": "get_order", "parameters": CALL["arguments"]}),
        ("arguments_renamed",),
    ),
    "parameters amid text": (
        f"I look. {json.dumps({'name': 'get_order', 'parameters': CALL['arguments']})}",
        ("surrounding_text", "arguments_renamed"),
    ),
    "args as text": (
        json.dumps({"name": "get_order", "args": json.dumps(CALL["arguments"])}),
        ("arguments_renamed", "arguments_as_text"),
    ),
    "input": (
        json.dumps(
            {"type": "tool_use", "id": "x", "name": "get_order", "input": CALL["arguments"]}
        ),
        ("arguments_renamed",),
    ),
    "null beside parameters": (
        json.dumps({"name": "get_order", "arguments": None, "parameters": CALL["arguments"]}),
        ("arguments_renamed",),
    ),
    "arguments beside input": (json.dumps({**CALL, "input": "where is my order?"}), ()),
    "fence wins over loose text": (
        f'Not {{"name": "b", "arguments": {{}}}} but\n```json\n{BARE}\n```',
        ("fenced", "surrounding_text", "extra_objects"),
    ),
    "first of two objects": (
        f'{BARE}\n{{"name": "b", "arguments": {{}}}}',
        ("surrounding_text", "extra_objects"),
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tool_call_is_read_from(shape):
    text, repairs = SHAPES[shape]

    reply = parse_reply(text)

    assert (reply.kind, reply.content, reply.calls) == ("tool_calls", None, PARSED)
    assert reply.repairs == repairs


def test_a_data_part_wins_over_text_and_needs_no_repair():
    reply = parse_reply("I am calling a tool", [{"note": "no call"}, CALL])
    assert (reply.calls, reply.repairs) == (PARSED, ())


def test_several_calls_of_one_reply_are_all_read_in_order():
    reply = parse_reply(json.dumps({"tool_calls": [CALL, {"name": "b", "arguments": {}}]}))
    assert [call.name for call in reply.calls] == ["get_order", "b"]


def test_calls_beyond_the_cap_are_dropped_and_counted():
    reply = parse_reply(json.dumps([CALL] * (wire.MAX_CALLS + 1)))
    assert len(reply.calls) == wire.MAX_CALLS
    assert reply.repairs == ("list", "calls_dropped")


def test_a_tool_call_without_arguments_counts_only_when_it_is_the_whole_reply():
    alone = parse_reply('{"name": "list_all_product_types"}')
    amid = parse_reply('The customer is {"name": "Emma", "age": 30}.')
    person = parse_reply('{"name": "Emma Kim"}')

    assert alone.calls == (ParsedCall(name="list_all_product_types", arguments={}),)
    assert alone.repairs == ("missing_arguments",)
    assert (amid.kind, amid.content) == ("respond", 'The customer is {"name": "Emma", "age": 30}.')
    assert (person.kind, person.repairs) == ("respond", ("unparsable",))


@pytest.mark.parametrize(
    "value",
    [
        {"name": "cancel_order", "order_id": "#W1"},
        {"name": "cancel_order", "reason": "no longer needed"},
        {"name": "cancel_order", "arguments": None, "order_id": "#W1"},
        {"name": "get_order", "args": {"order_id": "#W1"}, "parameters": {"order_id": "#W2"}},
        {"role": "tool", "name": "get_order", "content": "shipped"},
        {"name": "get_order", "parameters": {"type": "object", "properties": {}}},
        {"type": "function", "function": {"name": "f", "description": "F.", "parameters": {}}},
    ],
)
def test_no_call_is_made_without_the_arguments_that_an_object_may_hold(value):
    text = json.dumps(value)
    reply = parse_reply(text)
    assert (reply.kind, reply.calls, reply.content) == ("respond", (), text)
    assert reply.repairs == ("unparsable",)


def test_a_call_without_arguments_may_hold_a_thought():
    [call] = parse_reply('{"thinking": "so", "name": "list_all_product_types"}').calls
    assert call.arguments == {}


RESPONSES = {
    '{"name": "respond", "arguments": {"content": "Hello"}}': ("Hello", ()),
    '{"name": "respond", "kwargs": {"content": "Hello"}}': ("Hello", ("kwargs",)),
    '{"name": "respond", "parameters": {"content": "Hello"}}': ("Hello", ("arguments_renamed",)),
    '{"name": "respond", "arguments": "Hello"}': ("Hello", ("arguments_as_text",)),
    '{"name": "respond", "arguments": {"content": {"a": 1}}}': ('{"a": 1}', ("content_not_text",)),
    '{"name": "respond", "arguments": {"content": "a\nb"}}': ("a\nb", ("control_characters",)),
    '{"name": "respond", "arguments": {"content": "I <think>x</think> so"}}': (
        "I <think>x</think> so",
        (),
    ),
    "Hello there": ("Hello there", ("plain_text",)),
    "<think>hm</think> Hello there": ("Hello there", ("think_block", "plain_text")),
    "It costs {12} or [13].": ("It costs {12} or [13].", ("plain_text",)),
    "": ("", ("empty",)),
    "<think>only</think>": ("", ("think_block", "empty")),
    '{"name": "respond", "arguments": {"cont': (
        '{"name": "respond", "arguments": {"cont',
        ("unparsable",),
    ),
    '{"name": "respond", "arguments": {}}': (
        '{"name": "respond", "arguments": {}}',
        ("unparsable",),
    ),
    '{"name": "f", "arguments": {"x": NaN}}': (
        '{"name": "f", "arguments": {"x": NaN}}',
        ("unparsable",),
    ),
    '{"name": "f", "arguments": [1]}': ('{"name": "f", "arguments": [1]}', ("unparsable",)),
    "[]": ("[]", ("unparsable",)),
}


@pytest.mark.parametrize("text", RESPONSES)
def test_words_to_the_user_are_read_from(text):
    reply = parse_reply(text)
    assert (reply.kind, reply.calls) == ("respond", ())
    assert (reply.content, reply.repairs) == RESPONSES[text]


def test_arguments_keep_their_types():
    arguments = {"n": 2, "x": 2.0, "s": "2", "b": True, "none": None, "list": [1, {"a": []}]}
    [call] = parse_reply(json.dumps({"name": "f", "arguments": arguments})).calls
    assert repr(call.arguments) == repr(arguments)


def test_half_a_surrogate_pair_becomes_text_that_can_be_encoded():
    [call] = parse_reply('{"name": "f", "arguments": {"a": ["x\\ud800"]}}').calls
    said = parse_reply("plain \ud800 text").content
    assert json.dumps(call.arguments, ensure_ascii=False).encode()
    assert said == "plain \ufffd text"


def test_arguments_nested_too_deeply_are_not_a_call():
    deep: object = 1
    for _ in range(wire.MAX_DEPTH + 1):
        deep = [deep]
    assert parse_reply(json.dumps({"name": "f", "arguments": {"a": deep}})).kind == "respond"


MEGABYTE = 1_000_000
HOSTILE = {
    "open braces": "{" * MEGABYTE,
    "open brackets": "[" * MEGABYTE,
    "empty lists": "[] " * (MEGABYTE // 3),
    "nested keys": '{"a":' * (MEGABYTE // 5),
    "a list begun often": "[" * 300 + "1," * (MEGABYTE // 2),
    "words begun often": '{"a" ' * (MEGABYTE // 5),
    "fences": "```json\n" * (MEGABYTE // 8),
    "think tags": "<think>" * (MEGABYTE // 7) + "</think>" * 10,
    "closing think tags": "</think>" * (MEGABYTE // 8),
    "digits": '{"name": "f", "arguments": {"n": ' + "9" * MEGABYTE + "}}",
    "calls without end": json.dumps(CALL) * (MEGABYTE // 60),
}


@pytest.mark.timeout(20)  # quadratic work on a megabyte takes minutes, this takes 0.2 s
@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_of_nonsense_is_understood_in_linear_time(name):
    reply = parse_reply(HOSTILE[name])
    assert reply.kind == ("tool_calls" if name == "calls without end" else "respond")
    assert reply.repairs


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.text(min_size=1, max_size=8).filter(lambda name: name != "respond")


@given(names, st.dictionaries(st.text(max_size=5), json_values, max_size=3))
def test_a_call_written_as_json_is_read_back(name, arguments):
    reply = parse_reply(json.dumps({"name": name, "arguments": arguments}))
    assert reply.calls == (ParsedCall(name=name, arguments=arguments),)
    assert reply.repairs == ()


@given(st.text())
def test_words_written_as_json_are_read_back(content):
    reply = parse_reply(json.dumps({"name": "respond", "arguments": {"content": content}}))
    assert (reply.kind, reply.content, reply.repairs) == ("respond", content, ())


fragments = st.sampled_from(
    [
        "{",
        "}",
        "[",
        "]",
        '"',
        ":",
        ",",
        "```",
        "json",
        "<json>",
        "</json>",
        "<think>",
        "</think>",
        "\\",
        '"name"',
        '"arguments"',
        '"respond"',
        "tool_calls",
        "\ud800",
        "\n",
        BARE,
        "NaN",
        "1e999",
    ]
)


@given(
    st.text() | st.lists(fragments | st.text(max_size=3)).map("".join),
    st.lists(json_values, max_size=2),
)
def test_any_reply_has_a_meaning_that_can_be_encoded(text, data):
    reply = parse_reply(text, data)
    assert (reply.kind == "tool_calls") == bool(reply.calls)
    assert reply.kind == "tool_calls" or reply.content is not None
    json.dumps(
        [reply.content, *(call.arguments for call in reply.calls)],
        ensure_ascii=False,
        allow_nan=False,
    ).encode()


def a_tool(name, required, /, **types):
    properties = {key: {"type": kind} for key, kind in types.items()}
    return {"function": {"name": name, "parameters": {"properties": properties, **required}}}


def test_example_replies_call_a_tool_by_texts_that_it_needs_and_are_read_without_repairs():
    tools = [
        a_tool("list_all", {}),
        a_tool("count", {"required": ["n"]}, n="integer"),
        a_tool("find", {"required": ["name"]}, name="string", page="integer"),
    ]
    call, words = example_replies(tools)
    assert json.loads(call) == {"name": "find", "arguments": {"name": "..."}}
    assert json.loads(words) == {"name": "respond", "arguments": {"content": "..."}}
    assert parse_reply(call).calls[0].name == "find"
    assert (parse_reply(call).repairs, parse_reply(words).content) == ((), "...")
    assert json.loads(example_replies(tools[:1])[0]) == {"name": "list_all", "arguments": {}}
    assert example_replies([]) == (words,)
