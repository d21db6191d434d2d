"""The scripted user, by its words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tau_bridge.messages import AssistantMessage, ToolMessage
from tau_bridge.tau2.scripted_user import PATIENCE
from tau_bridge.tau2.stopping import is_stop
from tau_bridge.tau2.tasks import parse_task
from tau_bridge.tau2.users import ScriptedUser
from tests.tau_bridge.tau2.parcels import GREETING, OPENING, TASK, TOOLS


async def talk(user, *texts):
    """What the user answers to each of the agent's texts, after the greeting."""
    await user.reply([AssistantMessage(content=GREETING)])
    return [await user.reply([AssistantMessage(content=text)]) for text in texts]


async def answer(text, *, tools=()):
    [message] = await talk(ScriptedUser(TASK, tools=tools), text)
    return message


async def test_the_scripted_user_opens_with_the_reason_for_the_call():
    user = ScriptedUser(TASK)
    message = await user.reply([AssistantMessage(content=GREETING)])
    assert message.text == "I want to cancel the parcel P-1001 that I sent yesterday."
    assert user.label == "scripted"


async def test_a_scenario_that_is_one_text_is_the_opening():
    task = parse_task({"id": "m", "user_scenario": {"instructions": "Create a task."}})
    message = await ScriptedUser(task).reply([AssistantMessage(content=GREETING)])
    assert message.text == "I want to create a task."


async def test_a_stop_token_in_a_scenario_does_not_end_the_conversation():
    task = parse_task({"id": "m", "user_scenario": {"instructions": "Say ###STOP### at the end."}})
    message = await ScriptedUser(task).reply([AssistantMessage(content=GREETING)])
    assert not is_stop(message)


async def test_known_info_is_given_when_asked_and_not_before():
    statement, question, again = await talk(
        ScriptedUser(TASK),
        "One moment, I am looking.",
        "May I have your customer id?",
        "Which customer are you?",
    )
    assert "Ada" not in statement.text
    assert question.text == "My name is Ada Byron, customer ada_7."
    assert again.text == "My name is Ada Byron, customer ada_7."


async def test_what_is_unknown_is_said_to_be_unknown():
    _, email = await talk(ScriptedUser(TASK), "Who are you?", "Please provide your email.")
    assert email.text == "I do not remember my email address."


async def test_a_question_beyond_the_scenario_is_answered_with_not_knowing_more():
    _, colour = await talk(ScriptedUser(TASK), "Who are you?", "Which colour is it?")
    assert colour.text == "I don't know more than I have told you."


@pytest.mark.parametrize(
    "text",
    [
        "I will cancel it. Do you want me to proceed?",
        "Please confirm (yes/no).",
        "Is that correct?",
    ],
)
async def test_a_request_to_confirm_is_agreed_to(text):
    _, message = await talk(ScriptedUser(TASK), "Who are you?", text)
    assert message.text == "Yes."


@pytest.mark.parametrize(
    "text",
    [
        "That is done. For your information: 12. Is there anything else I can help you with?",
        "Have a great day!",
        "Goodbye.",
        "I am sorry, I cannot help with that.",
        "Unfortunately we are unable to assist you.",
    ],
)
async def test_the_user_hangs_up_when_told(text):
    message = await answer(text)
    assert is_stop(message)
    assert "###STOP###" in message.text


async def test_a_refusal_with_a_question_is_not_the_end():
    message = await answer("I cannot help you without your id. Who are you?")
    assert message.text == "My name is Ada Byron, customer ada_7."


@pytest.mark.parametrize(
    ("text", "is_transfer"),
    [
        ("YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.", True),
        ("I am transferring you now.", True),
        ("Would you like that I will transfer you to a human?", False),
        ("I cannot say that you are being transferred.", False),
        ("The money was transferred to your card.", False),
    ],
)
async def test_being_handed_over_is_told_from_talk_about_it(text, is_transfer):
    assert ((await answer(text)).text == "###TRANSFER###") is is_transfer


async def test_the_same_text_twice_in_a_row_ends_it():
    first, second = await talk(ScriptedUser(TASK), "Let me see.", "Let me see.")
    assert (is_stop(first), is_stop(second)) == (False, True)


async def test_an_echo_is_met_once_with_words_and_then_with_the_end():
    user = ScriptedUser(TASK, tools=TOOLS)
    said = await user.reply([AssistantMessage(content=GREETING)])
    said = await user.reply([AssistantMessage(content=f"{GREETING}\n{said.text}")])
    assert not is_stop(said)
    assert is_stop(await user.reply([AssistantMessage(content=said.text)]))


async def test_a_named_tool_is_run_and_its_result_is_told():
    user = ScriptedUser(TASK, tools=TOOLS)
    [message] = await talk(
        user,
        "Please run the tool toggle_airplane_mode() on your phone now and tell me the result.",
    )

    assert message.content is None
    [call] = message.tool_calls
    assert (call.name, call.arguments, call.requestor) == ("toggle_airplane_mode", {}, "user")

    result = ToolMessage(id=call.id, content="Airplane Mode is now OFF.", requestor="user")
    told = await user.reply([result])
    assert told.text == "I ran toggle_airplane_mode. It says: Airplane Mode is now OFF."


async def test_several_named_tools_run_one_a_turn_in_order_of_mention_and_are_told_together():
    user = ScriptedUser(TASK, tools=TOOLS)
    [message] = await talk(user, "Run get_status_bar, then set_mode(mode='fast', level=2).")
    names = []
    while message.tool_calls:
        [call] = message.tool_calls
        names.append((call.name, call.arguments))
        result = ToolMessage(id=call.id, content="fine", requestor="user", error=len(names) == 2)
        message = await user.reply([result])

    assert names == [("get_status_bar", {}), ("set_mode", {"mode": "fast", "level": 2})]
    assert message.text == "I ran get_status_bar. It says: fine\nset_mode did not work: fine"


@pytest.mark.parametrize(("says", "most"), [("the same", 3), ("news", 10)])
async def test_a_tool_may_be_asked_for_again_in_the_same_words_but_not_for_ever(says, most):
    user = ScriptedUser(TASK, tools=TOOLS)
    await user.reply([AssistantMessage(content=GREETING)])
    runs = 0
    while not is_stop(message := await user.reply([AssistantMessage(content="get_status_bar!")])):
        runs += 1
        [call] = message.tool_calls
        result = f"{runs}" if says == "news" else says
        await user.reply([ToolMessage(id=call.id, content=result, requestor="user")])
    assert runs == most


async def test_a_call_that_failed_twice_is_not_tried_again():
    user = ScriptedUser(TASK, tools=TOOLS)
    await user.reply([AssistantMessage(content=GREETING)])
    for number in range(2):
        message = await user.reply([AssistantMessage(content=f"{number}: get_status_bar()")])
        [call] = message.tool_calls
        await user.reply([ToolMessage(id=call.id, content="x", requestor="user", error=True)])
    message = await user.reply([AssistantMessage(content="2: get_status_bar()")])
    assert message.text == "get_status_bar does not work for me."


async def test_missing_or_unreadable_arguments_are_asked_for():
    missing = await answer("Use set_mode now.", tools=TOOLS)
    unreadable = await answer("Use set_mode(mode=fast, level=) now.", tools=TOOLS)
    assert missing.text == "Which mode and level should I use for set_mode?"
    assert unreadable.text.startswith("I cannot read the arguments of set_mode.")


async def test_no_conversation_outlasts_the_users_patience():
    user = ScriptedUser(TASK)
    turns = 1
    await user.reply([AssistantMessage(content=GREETING)])
    while not is_stop(await user.reply([AssistantMessage(content=f"Step {turns}. Really?")])):
        turns += 1
    assert turns + 1 == PATIENCE


@given(st.lists(st.text() | st.sampled_from(["get_status_bar(", "?", "yes or no", OPENING])))
async def test_whatever_the_agent_says_the_user_answers(texts):
    user = ScriptedUser(TASK, tools=TOOLS)
    for text in texts:
        message = await user.reply([AssistantMessage(content=text)])
        assert message.text or message.tool_calls
