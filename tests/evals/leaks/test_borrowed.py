"""Calls with a value that nothing in their conversation gave the agent."""

import json

import pytest

from evals.leaks.borrowed import borrowed_calls, calls_with, without_results

pytestmark = pytest.mark.requirement("test:isolation")


def called(number, name, **arguments):
    call = {"id": f"c{number}", "name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(number, value):
    return {"role": "tool", "id": f"c{number}", "content": json.dumps(value)}


def said(text):
    return {"role": "user", "content": text}


MIA = {"reservation_id": "EHGLP3", "user_id": "mia_li_3668", "origin": "JFK"}


def test_a_call_with_what_the_user_said_is_its_own():
    talk = [said("Cancel ehglp3, I am mia_li_3668."), called(1, "get", id="EHGLP3"), result(1, MIA)]
    assert borrowed_calls(talk, []) == frozenset()


def test_a_call_with_what_an_earlier_result_gave_is_its_own():
    profile = {"user_id": "mia_li_3668", "reservations": ["EHGLP3"]}
    talk = [
        said("I am mia_li_3668."),
        called(1, "user", id="mia_li_3668"),
        result(1, profile),
        called(2, "get", id="EHGLP3"),
        result(2, MIA),
    ]
    assert borrowed_calls(talk, []) == frozenset()


def test_a_call_with_a_value_from_elsewhere_is_borrowed_and_its_result_gives_nothing():
    talk = [said("I am noah_muller_9847."), called(1, "get", id="EHGLP3"), result(1, MIA)]
    assert borrowed_calls(talk, []) == {"c1"}
    again = [*talk, called(2, "user", id="mia_li_3668"), result(2, {"user_id": "mia_li_3668"})]
    assert borrowed_calls(again, []) == {"c1", "c2"}
    assert without_results(again, {"c1", "c2"}) == [again[0], again[1], again[3]]
    assert calls_with(again, {"ehglp3"}) == {"c1"}


def test_a_value_of_the_policy_or_of_the_task_is_not_from_elsewhere():
    talk = [said("Hi"), called(1, "get", id="EHGLP3"), result(1, MIA)]
    assert borrowed_calls(talk, ["Example: EHGLP3"]) == frozenset()


def test_a_result_about_the_same_customer_makes_the_call_their_own():
    """The user says the id in other words, such as letter by letter."""
    talk = [
        said("I am mia_li_3668, my reservation is E H G L P three."),
        called(1, "get", id="EHGLP3"),
        result(1, MIA),
    ]
    assert borrowed_calls(talk, []) == frozenset()


def test_dates_prices_and_words_are_no_values():
    talk = [said("Hi"), called(1, "search", day="2024-05-20", max=300), result(1, {"found": 0})]
    assert borrowed_calls(talk, []) == frozenset()
