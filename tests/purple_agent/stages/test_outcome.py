"""Stage 9: the agent's own opinion of its reply."""

from dataclasses import replace

import pytest

from purple_agent.case import (
    BudgetLevel,
    Case,
    Dialect,
    Entry,
    Incoming,
    Say,
    Session,
    ToolCall,
    ToolResult,
    ToolSpec,
    Use,
)
from purple_agent.memory.cases import CaseMemory
from purple_agent.process.machine import Process, State
from purple_agent.stages.outcome import OutcomeStage, quality_of
from purple_agent.writes.gate import RefusedCall

SPECS = tuple(
    ToolSpec(name=name, description="", parameters={}, is_write=is_write)
    for name, is_write in (("get_it", False), ("set_it", True))
)


def a_case(*calls, reply=None, level=BudgetLevel.FULL, state=State.COMPLETE):
    """A case whose turn made these calls: `get_it`, `set_it`; a `!` behind one makes it fail."""
    entries = [Entry(role="user", text="please")]
    for number, name in enumerate(calls):
        call = ToolCall(id=f"call-{number}", name=name.rstrip("!"), arguments={})
        result = ToolResult(text="", failed=name.endswith("!"))
        entries += [Entry(role="call", call=call), Entry(role="result", call=call, result=result)]
    session = Session(
        context_id="c",
        dialect=Dialect.BUSINESS,
        specs=SPECS,
        entries=entries,
        process=Process(state=state),
    )
    incoming = Incoming(context_id="c", message_id="m", text="please")
    return Case(
        incoming=incoming,
        session=session,
        reply=Say(text="Done.") if reply is None else reply,
        budget_level=level,
    )


def parts(case):
    quality = quality_of(case)
    return quality.answer, quality.tools, quality.policy, quality.total


def test_what_there_was_nothing_of_has_no_score_and_no_weight():
    assert parts(a_case()) == (1, None, None, 1)
    assert parts(a_case(state=State.FAILED)) == (0.5, None, None, 0.5)
    assert parts(a_case("get_it")) == (1, 1, None, 1)
    # Of .70: .175 for the answer and .35 for the tools.
    assert parts(a_case("get_it", state=State.FAILED)) == (0.5, 1, None, 0.75)


def test_fewer_calls_are_better():
    one, two = quality_of(a_case("get_it")), quality_of(a_case("get_it", "set_it"))
    assert (one.tools, two.tools) == (1, 0.95)
    assert two.total == 0.9825  # .35 + .35 * .95 + .30


def test_many_calls_keep_a_fifth():
    assert quality_of(a_case(*["get_it"] * 40)).tools == 0.2


def test_a_failed_read_lowers_the_tools_alone():
    assert parts(a_case("get_it!")) == (1, 0, None, 0.5)  # .35 of .70


def test_a_failed_write_lowers_tools_and_policy():
    # Two of three calls succeeded, .9 for three calls; one of two writes went through.
    assert parts(a_case("get_it", "set_it!", "set_it")) == (1, 0.6, 0.5, 0.71)


def test_what_the_gate_held_back_was_never_called():
    case = a_case("set_it!")
    [call] = [entry.call for entry in case.session.entries if entry.role == "result"]
    case.session.entries[-1] = Entry(role="result", call=call, result=RefusedCall(text="no"))
    assert parts(case) == (1, None, None, 1)


def test_an_unknown_tool_counts_as_a_write():
    assert quality_of(a_case("anything!")).policy == 0


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"reply": Say(text=" ")}, 0),
        ({"reply": Say(text="I have no tool for that.", unable=True)}, 0),
        ({"state": State.FAILED}, 0.5),
        ({"level": BudgetLevel.NONE}, 0.5),
        ({"reply": Use(call=ToolCall(id="call-9", name="get_it", arguments={}))}, 1),
    ],
)
def test_an_answer_that_falls_short_counts_less(fields, answer):
    assert quality_of(a_case(**fields)).answer == answer


def test_earlier_turns_do_not_count():
    case = a_case("set_it!")
    case.session.entries.append(Entry(role="user", text="never mind"))
    assert quality_of(case).total == 1


async def test_the_quality_goes_with_the_case():
    case = a_case("get_it")
    assert (await OutcomeStage()(case)).quality == quality_of(case)


async def test_a_reply_that_nothing_could_be_done_is_no_precedent(tmp_path):
    memory = CaseMemory(tmp_path / "cases.db")
    asked = replace(a_case().incoming, text="please book me a flight")
    for reply in (Say(text="I have no tool for that.", unable=True), Say(text="It is booked.")):
        await OutcomeStage(memory)(replace(a_case(reply=reply), incoming=asked))
    assert [case.answer for case in memory.cases()] == ["It is booked."]
