"""The agent that says how sure it is: only where it was asked, and as it then plays."""

import json

import pytest

from purple_agent.candid import ASKED, SURE, UNSURE, CandidAgent
from purple_agent.conversation import Turn
from purple_agent.oracle import GoldAction, GoldScript

SCRIPTS = {
    f"shop/{number}": GoldScript(actions=(GoldAction(name="pay", arguments={"sum": number}),))
    for number in range(40)
}


def played(task, opening):
    """What it replies to three messages about a task."""
    agent = CandidAgent(SCRIPTS)
    turns = [opening, "Paid.", "Thanks."]
    return [
        agent.reply(Turn(context_id="c", message_id=str(number), text=text, task=task))
        for number, text in enumerate(turns)
    ]


def is_call(reply):
    return json.loads(reply)["name"] == "pay"


@pytest.mark.requirement("test:chaos")
def test_it_is_sure_where_it_acts_and_unsure_where_it_gives_up():
    acted = []
    for task in SCRIPTS:
        first, *later = played(task, f"End with {ASKED} 80%]. Please pay.")
        acted.append(is_call(first))
        expected = SURE if is_call(first) else UNSURE
        assert all(expected in reply for reply in (later if is_call(first) else [first, *later]))
    assert 10 < sum(acted) < 30


def test_without_being_asked_it_says_nothing_of_its_confidence_and_plays_alike():
    for task in SCRIPTS:
        plain = played(task, "Please pay.")
        asked = played(task, f"End with {ASKED} 80%]. Please pay.")
        assert not any("confidence" in reply for reply in plain)
        assert [is_call(each) for each in plain] == [is_call(each) for each in asked]
