"""How long a conversation may get, and where it may be cut."""

from hypothesis import given, settings
from hypothesis import strategies as st

from purple_agent.case import Dialect, Entry, Say, Session, ToolCall, ToolResult, Use
from purple_agent.memory.transcript import (
    Limits,
    current_turn,
    note_reply,
    shorten_results,
    surplus,
    tokens_of,
    turn_starts,
)


def user(text="hello"):
    return Entry(role="user", text=text)


def agent(text="yes"):
    return Entry(role="agent", text=text)


def called(number, text="{}"):
    call = ToolCall(id=f"call-{number}", name="get_it", arguments={})
    return [
        Entry(role="call", call=call),
        Entry(role="result", call=call, result=ToolResult(text=text)),
    ]


def turns(count):
    return [entry for _ in range(count) for entry in (user(), agent())]


def test_twenty_turns_are_within_the_limits():
    assert surplus(turns(20), Limits()) == 0


def test_of_twenty_one_turns_all_but_the_last_six_are_surplus():
    assert surplus(turns(21), Limits()) == 2 * (21 - 6)


def test_eight_thousand_tokens_are_within_the_limits_and_one_more_is_not():
    entries = [user("x" * 32_000 if number == 0 else "") for number in range(7)]
    assert surplus(entries, Limits()) == 0
    assert surplus([*entries, user("abcde")], Limits()) == 2


def test_the_last_six_turns_stay_though_they_are_long():
    assert surplus([user("x" * 20_000) for _ in range(6)], Limits()) == 0


def test_of_enormous_turns_only_what_can_be_read_stays():
    assert surplus([user("x" * 60_000) for _ in range(6)], Limits()) == 4


def test_the_last_turn_stays_whatever_its_length():
    entries = [user("old"), agent(), user("x" * 400_000), agent("y" * 400_000)]
    assert surplus(entries, Limits()) == 2


def test_a_turn_is_what_the_user_said_and_all_that_followed():
    entries = [agent("Hi"), user(), *called(1), agent(), user("more"), agent("sure")]
    assert turn_starts(entries) == [0, 5]
    assert list(current_turn(entries)) == entries[5:]
    assert list(current_turn([])) == []


def test_results_and_arguments_count_as_tokens():
    call = ToolCall(id="call-1", name="get_it", arguments={"a": 1})
    assert tokens_of(user("12345")) == 2
    assert tokens_of(Entry(role="call", call=call)) == -(-(6 + len('{"a": 1}')) // 4)
    assert tokens_of(Entry(role="result", call=call, result=ToolResult(text="x" * 40))) == 10


steps = st.lists(
    st.one_of(
        st.builds(lambda size: [user("u" * size)], st.integers(0, 60)),
        st.builds(lambda size: [agent("a" * size)], st.integers(0, 60)),
        st.builds(lambda size: called(0, "r" * size), st.integers(0, 60)),
    ),
    max_size=30,
)


@settings(max_examples=60)
@given(steps)
def test_a_call_is_never_split_from_its_result(found):
    entries = [entry for step in found for entry in step]
    calls = iter(range(len(entries)))
    for index, entry in enumerate(entries):
        if entry.role == "call":
            renamed = ToolCall(id=f"call-{next(calls)}", name="get_it", arguments={})
            entries[index] = Entry(role="call", call=renamed)
            entries[index + 1] = Entry(
                role="result", call=renamed, result=entries[index + 1].result
            )
    cut = surplus(entries, Limits(turns=4, tokens=30, keep_turns=2, most_tokens=40))
    gone = {entry.call.id for entry in entries[:cut] if entry.call is not None}
    kept = {entry.call.id for entry in entries[cut:] if entry.call is not None}
    assert not gone & kept
    assert cut <= max(turn_starts(entries), default=0)


def test_a_result_that_comes_late_keeps_its_call_from_being_cut():
    call = ToolCall(id="call-1", name="get_it", arguments={})
    late = Entry(role="result", call=call, result=ToolResult(text="{}"))
    entries = [user(), Entry(role="call", call=call), user(), late, user(), user()]
    limits = Limits(turns=1, tokens=100, keep_turns=3)
    assert surplus(entries, limits) == 4


def test_a_reply_is_entered_once():
    session = Session(context_id="c", dialect=Dialect.BUSINESS, entries=[user()])
    for _ in range(2):
        note_reply(session, Say(text="done"))
    assert session.entries[1:] == [agent("done")]
    call = session.new_call("get_it", {})
    for _ in range(2):
        note_reply(session, Use(call=call))
    assert session.entries[2:] == [Entry(role="call", call=call)]
    note_reply(session, None)
    note_reply(session, Say(text=" "))
    assert len(session.entries) == 3


def test_results_too_large_to_be_stored_are_cut_to_their_beginnings_oldest_first():
    entries = [user(), *called(1, "x" * 4_000), *called(2, "y" * 4_000)]
    shorten_results(entries, Limits(stored_tokens=1_200))
    assert entries[2].result.text == f"{'x' * 400} [shortened]"
    assert entries[4].result.text == "y" * 4_000
