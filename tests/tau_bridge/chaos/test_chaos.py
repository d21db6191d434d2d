"""The faults of a play: which there are, where they are drawn, and which writes they repeat."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.chaos.injector import InjectedFault, Injector, with_other_fields
from tau_bridge.chaos.profiles import PROFILES, parse_chaos
from tau_bridge.chaos.safety import blind_writes, repeated_writes
from tau_bridge.messages import AssistantMessage, ToolCall, ToolMessage
from tau_bridge.tau2.loop import without_calls

pytestmark = pytest.mark.requirement("test:chaos")
WRITE, READ = {"id": "1", "name": "pay", "arguments": {"sum": 5}}, {"name": "look", "arguments": {}}


@pytest.mark.parametrize("text", [*PROFILES, "network,tools", "lost_reply=0.5,tool_error=0.2"])
def test_a_plan_is_written_as_it_is_read(text):
    assert str(parse_chaos(text)) == text


def test_a_family_is_played_only_where_one_of_its_faults_has_a_rate():
    assert parse_chaos("duplicate=0.5,tool_error=0,prompt=1").families == ("duplicates", "prompts")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("netwrk", "did you mean 'network'"),
        ("network,tols", "did you mean 'tools'"),
        ("lost_repl=0.5", "did you mean 'lost_reply'"),
        ("delay=2", "write a share from 0 to 1"),
        ("delay=-0.1", "write a share from 0 to 1"),
        ("delay=nan", "write a share from 0 to 1"),
        ("delay=often", "the rate of delay is 'often'"),
        ("delay=0", "nothing would be injected"),
    ],
)
def test_what_is_no_profile_is_refused_with_the_reason(text, message):
    with pytest.raises(ValueError, match=message):
        parse_chaos(text)


def test_the_same_trial_meets_the_same_faults_and_another_seed_meets_others():
    def faults(seed):
        injector = Injector("shop/1", seed=seed, rates={"lost_reply": 0.3, "tool_error": 0.3})
        return [(injector.next_message(), injector.next_call()) for _ in range(40)]

    assert faults(1) == faults(1) != faults(2)
    assert {kind for kind, _ in faults(1)} == {None, "lost_reply"}


async def test_an_opening_in_other_words_keeps_every_sentence():
    said = "My name is Ada Byron. My phone is broken. It does not ring. My user id is ada_7."
    found = await Injector("shop/1", seed=1, rates={"prompt": 1.0}).opening(said)
    assert (
        "My phone is broken. It does not ring. My name is Ada Byron. My user id is ada_7." in found
    )
    assert found != said


@given(st.dictionaries(st.text(max_size=3), st.lists(st.integers(), max_size=2), min_size=1))
def test_a_result_with_other_fields_has_all_that_the_result_has(result):
    changed = json.loads(with_other_fields(json.dumps(result)) or "")
    assert {key: changed[key] for key in result} == result
    assert len(changed) == len(result) + ("schema_revision" not in result)


@pytest.mark.parametrize("content", ["done", "3", "[]", '["a"]', None])
def test_a_result_without_fields_is_left_alone(content):
    assert with_other_fields(content) is None


def conversation(*calls):
    """Each call in a message of its own, followed by its result; True: it failed."""
    messages = []
    for number, (call, failed) in enumerate(calls):
        messages += [
            {"role": "assistant", "tool_calls": [{**call, "id": str(number)}]},
            {"role": "tool", "id": str(number), "error": failed},
        ]
    return messages


def test_a_write_that_runs_more_often_than_plain_is_repeated():
    plain, twice = conversation((WRITE, False)), conversation((WRITE, False), (WRITE, False))
    assert repeated_writes(twice, plain, (), is_write) == 1
    assert repeated_writes(twice, twice, (), is_write) == 0
    assert repeated_writes(plain, [], (), is_write) == 0


def test_a_write_that_was_turned_away_is_not_repeated_by_another_try():
    away = InjectedFault(kind="tool_error", place=1, call_id="0")
    found = conversation((WRITE, True), (WRITE, False))
    assert repeated_writes(found, conversation((WRITE, False)), [away], is_write) == 0
    assert blind_writes(found, [away], is_write) == 0


def test_a_write_after_an_unknown_result_is_blind_unless_the_agent_looks_first():
    unknown = InjectedFault(kind="tool_timeout", place=1, call_id="0")
    blind = conversation((WRITE, True), (WRITE, False))
    looked = conversation((WRITE, True), (READ, False), (WRITE, False))
    assert blind_writes(blind, [unknown], is_write) == 1
    assert blind_writes(looked, [unknown], is_write) == 0
    assert repeated_writes(looked, conversation((WRITE, False)), [unknown], is_write) == 1


def is_write(name):
    return name == "pay"


def test_what_did_not_run_is_not_scored():
    kept, away = (ToolCall(id=each, name="pay", arguments={}) for each in ("1", "2"))
    both = AssistantMessage(tool_calls=(kept, away))
    results = (ToolMessage(id="1", content="ok"), ToolMessage(id="2", content="no", error=True))
    alone = AssistantMessage(tool_calls=(away,))
    found = without_calls((both, *results, alone, results[1]), frozenset({"2"}))
    assert found == (both.model_copy(update={"tool_calls": (kept,)}), results[0])
