"""The polite agent: what it learns from a user, and what it does not."""

from tau_bridge.messages import UserMessage
from tau_bridge.tau2.scripted_user import ScriptedUser
from tau_bridge.tau2.tasks import parse_task
from tests.fakes.polite_agent import PoliteAgent


class TalkingUser:
    """Says the same to everything."""

    def __init__(self, text):
        self.text = text

    async def reply(self, incoming):
        return UserMessage(content=self.text)


def task(*actions, known_info="You are Ada. Your user id is user_1."):
    scenario = {"instructions": {"reason_for_call": "You need a task.", "known_info": known_info}}
    return parse_task(
        {
            "id": "t",
            "user_scenario": scenario,
            "evaluation_criteria": {
                "actions": [{"name": name, "arguments": values} for name, values in actions]
            },
        }
    )


CREATE = ("create_task", {"user_id": "user_1", "title": "Water"})


async def test_it_learns_what_the_user_tells_and_names_what_it_does_not(mock):
    the_task = task(CREATE)
    assert await PoliteAgent(mock, the_task).missing(ScriptedUser(the_task)) == [
        "create_task.title"
    ]
    told = TalkingUser("user_1, Water")
    assert await PoliteAgent(mock, the_task).missing(told) == []


async def test_a_user_who_leaves_tells_nothing_more(mock):
    agent = PoliteAgent(mock, task(CREATE))
    assert await agent.missing(TalkingUser("###STOP###")) == [
        "create_task.user_id",
        "create_task.title",
    ]
    assert len(agent.heard) == 1


async def test_a_gold_read_gives_what_stands_in_its_result(airline):
    read = ("get_user_details", {"user_id": "emma_kim_9957"})
    write = ("cancel_reservation", {"reservation_id": "EHGLP3"})
    agent = PoliteAgent(airline, task(read, write))
    assert await agent.missing(TalkingUser("I am emma_kim_9957.")) == []
    assert await PoliteAgent(airline, task(read, write)).missing(TalkingUser("Hm.")) == [
        "get_user_details.user_id",
        "cancel_reservation.reservation_id",
    ]


async def test_it_looks_things_up_only_where_it_may(airline):
    write = ("cancel_reservation", {"reservation_id": "EHGLP3"})
    user = TalkingUser("I am emma_kim_9957.")
    assert await PoliteAgent(airline, task(write)).missing(user) == [
        "cancel_reservation.reservation_id"
    ]
    assert await PoliteAgent(airline, task(write), looks_up=True).missing(user) == []


async def test_numbers_and_yes_or_no_are_decided_and_dates_may_be_told_in_words(mock):
    the_task = task(
        ("book", {"n": 3, "insurance": "no", "date": "2024-05-26", "cabin": "basic_economy"})
    )
    user = TalkingUser("On May 26 in basic economy.")
    assert await PoliteAgent(mock, the_task).missing(user) == []
