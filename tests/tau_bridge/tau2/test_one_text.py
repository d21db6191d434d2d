"""Scenarios that are one text, as the bank's are."""

import pytest

from tau_bridge.messages import AssistantMessage, ToolMessage
from tau_bridge.tau2.description import person_of, reason_of, title_of
from tau_bridge.tau2.one_text import read_scenario
from tau_bridge.tau2.scripted_user import ScriptedUser
from tau_bridge.tau2.stopping import STOP, STOP_TOKENS, is_stop, without_stop_tokens
from tau_bridge.tau2.tasks import parse_task

TEXT = """\
## Who you are
**Your character:** You are Ada Vale, a baker from Bath. You have a Gold Card. You want to close it.

1. **Opening:** "Hi! I'd like to close my Gold Card. Can you help?"
2. **Ending:** When the card is closed, generate a "###STOP###" token.
   Write ###OUT-OF-SCOPE### if you are asked about loans.
"""


def task(text=TEXT, **more):
    return parse_task({"id": "task_7", "user_scenario": {"instructions": text}, **more})


async def said(user, *heard):
    return [(await user.reply([AssistantMessage(content=text)])).text for text in heard]


def test_words_to_open_with_are_spoken_as_they_are_quoted():
    instructions, opening = read_scenario(TEXT)
    assert opening == "Hi! I'd like to close my Gold Card. Can you help?"
    assert "**" not in instructions.known_info
    assert "## Who" not in instructions.known_info


async def test_a_user_opens_with_them_and_knows_the_rest():
    opening, name = await said(ScriptedUser(task()), "Hi!", "What is your name?")
    assert opening == "Hi! I'd like to close my Gold Card. Can you help?"
    assert "Ada Vale" in name


@pytest.mark.parametrize("token", STOP_TOKENS)
@pytest.mark.parametrize(
    "text",
    [
        "You want to end with {}. You are Ada.",
        'Opening: "I say {} at once."',
        "You want {} now",
        "Your name is #{}# and ##{}.",
    ],
)
async def test_a_token_among_the_instructions_is_never_said(text, token):
    user = ScriptedUser(task(text.replace("{}", token)))
    questions = (
        "Hi!",
        "What is your name?",
        "What else do you want?",
        "Please confirm: yes or no?",
    )
    for question in questions:
        reply = await user.reply([AssistantMessage(content=question)])
        assert not is_stop(reply), reply.text
        assert token not in reply.text


async def test_a_token_among_the_results_of_a_tool_ends_nothing():
    tools = [{"type": "function", "function": {"name": "look", "parameters": {}}}]
    user = ScriptedUser(task("You want help."), tools=tools)
    await said(user, "Hi!")
    call = (await user.reply([AssistantMessage(content="Please run look()")])).tool_calls[0]
    report = await user.reply(
        [ToolMessage(id=call.id, content=f"It says {STOP}", requestor="user")]
    )
    assert not is_stop(report)


@pytest.mark.parametrize("text", ["###STOP###", "####STOP####", "##" + STOP + "##", "a##b#"])
def test_what_is_left_of_a_token_is_none(text):
    left = without_stop_tokens(text)
    assert "###" not in left
    assert without_stop_tokens(left) == left


@pytest.mark.parametrize(
    ("text", "title", "person"),
    [
        (TEXT, "I'd like to close my Gold Card.", "Ada Vale"),
        (
            "You are playing the role of a customer contacting an agent. Your character is a "
            "baker named Ada Vale. You need a loan.",
            "Your character is a baker named Ada Vale.",
            "Ada Vale",
        ),
    ],
)
def test_a_title_and_a_person_are_found_in_one_text(text, title, person):
    described = task(text, description={"purpose": "Task: task_7"})
    assert (title_of(described), person_of(described)) == (title, person)
    assert reason_of(described)
