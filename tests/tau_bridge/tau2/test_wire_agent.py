"""The agent behind the τ² wire: what it hears, and what is made of its replies."""

import json

from tau_bridge.messages import UserMessage
from tau_bridge.tau2.solo import DONE_TOOL
from tau_bridge.wire import MESSAGES_LINE
from tests.tau_bridge.tau2.shelf import GREETING, SAID, TalkingUser, play, task, wired


async def test_the_wire_agent_hears_the_first_message_then_results_and_words():
    wire, agent, world = wired(
        {"name": "move", "arguments": {"parcel": "P-1", "to": "b"}},
        '[{"name": "move", "arguments": {"parcel": "P-1", "to": "c"}}, {"name": "nope", '
        '"arguments": {}}]',
        "All done.",
    )
    played = await play(agent, TalkingUser("Hi.", "ok", "###STOP###"), world=world)

    assert wire.sent[0].startswith("Be kind to parcels.\n")
    assert wire.sent[0].endswith(f"\n{MESSAGES_LINE}\n{GREETING}\nHi.")
    assert wire.sent[1:] == [
        "P-1 is now at b",
        "Tool 'move' result: P-1 is now at c\nTool 'nope' result: Error: no tool 'nope'",
        "ok",
    ]
    ids = [call.id for m in played.messages if m.role == "assistant" for call in m.tool_calls or ()]
    assert ids == ["call_1", "call_2", "call_3"]
    assert played.repairs == ("list", "plain_text", "plain_text")
    assert played.repairs_by_reply == {
        2: (),
        4: ("list",),
        7: ("plain_text",),
        9: ("plain_text",),
    }


async def test_the_wire_agent_is_told_a_history_with_its_speakers_and_new_ids_differ():
    wire, agent, world = wired('{"name": "move", "arguments": {}}', "Bye.")
    played = await play(
        agent, TalkingUser("And now?", "###STOP###"), the_task=task(history=SAID), world=world
    )

    told = wire.sent[0].partition(f"{MESSAGES_LINE}\n")[2]
    assert told.split("\n") == [
        "The user said: Move P-1.",
        'You said: {"name": "move", "arguments": {"parcel": "P-1", "to": "x"}}',
        "Tool 'move' result: P-1 is now at x",
        "You said: It is at x.",
        "And now?",
    ]
    [new] = [m for m in played.messages[4:] if m.role == "assistant" and m.is_tool_call]
    assert new.tool_calls[0].id == "call_2"


async def test_a_turn_carries_the_step_of_the_call_that_it_was_read_from():
    _, agent, _ = wired("Hello.", {"name": "move", "arguments": {}})
    turns = [await agent.reply([UserMessage(content=word)]) for word in ("one", "two")]
    assert [turn.step_id for turn in turns] == ["call-1", "call-2"]


async def test_a_lone_wire_agent_is_offered_done():
    wire, agent, world = wired('{"name": "done", "arguments": {}}', solo=True)
    played = await play(agent, None, the_task=task(ticket="Tidy up."), world=world)
    tools = json.loads(wire.sent[0].partition("time):\n")[2].partition("\n\n")[0])
    assert [t["function"]["name"] for t in tools] == ["move", "switch_lamp", "done"]
    assert tools[-1] == DONE_TOOL
    assert "Tidy up." in wire.sent[0].partition(MESSAGES_LINE)[2]
    assert played.termination == "agent_stop"
