"""Going round in circles, the agent or the user: each rule by hand."""

from evals.diagnosis import Behaviour, Call
from evals.diagnosis.loops import asked_again, fruitless_turns
from tests.evals.diagnosis.plays import MISSING, READ, component, diagnose, result, said


def test_equal_calls_with_equal_results_up_to_the_limit_are_a_loop():
    cut = result(component("DB", "x"), premature="max_steps")
    found = diagnose(MISSING, of=cut, termination="max_steps", calls=[READ] * 3)
    assert (found.kind, found.also) == ("loop", ("missing_write",))
    assert found.summary == "3 identical calls of look had the same result, until the step limit."


def test_calls_with_other_results_are_no_loop():
    calls = [Call(name="look", arguments={}, result=str(number)) for number in range(5)]
    found = diagnose(MISSING, termination="max_steps", calls=calls)
    assert (found.kind, found.also) == ("missing_write", ("loop",))


def test_equal_calls_in_a_row_explain_a_missing_one_and_scattered_ones_do_not():
    other = Call(name="search", arguments={})
    assert diagnose(MISSING, calls=[READ] * 2).kind == "missing_write"
    assert diagnose(MISSING, calls=[READ, READ, other, READ]).kind == "missing_write"
    assert diagnose(MISSING, calls=[READ] * 3).kind == "loop"
    scattered = diagnose(MISSING, calls=[READ, other, READ, other, READ])
    assert scattered.kind == "missing_write"
    assert "3 identical calls of look had the same result." in scattered.findings


def test_an_agent_that_says_the_same_up_to_the_limit_is_a_loop():
    turns = said("Hi!", "Hi", "Yes?", "a", "Yes?", "b", "yes? ")
    found = diagnose(termination="max_steps", turns=turns)
    assert (found.kind, found.side) == ("loop", "agent")
    assert found.summary == (
        "The agent asked the same question 3 times ('yes?'), until the step limit."
    )


def test_a_question_in_other_words_and_with_a_counter_is_the_same_question():
    turns = said(
        *("Hi!", "Hi", "What is your user id?", "u1", "Could you give me your user ID, please?"),
        *("u1", "(3) Please provide your user id.", "u1 ###STOP###"),
    )
    assert diagnose(MISSING, turns=turns).kind == "loop"


def test_a_question_is_new_where_something_new_was_done_since_it_was_asked():
    ask = "Shall I change it?"
    turns = said("Hi!", "Hi", ask, "Yes", ask, "Yes", ask, "Yes", "Done.", "###STOP###")
    same = [Call(name="look", arguments={}, message=place) for place in (5, 7, 9)]
    other = [Call(name="look", arguments={"n": n}, message=n) for n in (5, 7, 9)]
    assert diagnose(MISSING, turns=turns).kind == "loop"
    assert diagnose(MISSING, turns=turns, calls=[same[0], *same[1:]]).kind == "loop"
    assert diagnose(MISSING, turns=turns, calls=other).kind == "missing_write"


def test_asking_to_confirm_something_else_is_another_question():
    first, second = "I book a seat at 10. (yes/no)", "I cancel the trip. (yes/no)"
    turns = said("Hi!", "Hi", first, "No.", second, "Yes. ###STOP###")
    assert diagnose(MISSING, turns=turns).side == "user"
    turns = said("Hi!", "Hi", second, "Well.", second, "Yes. ###STOP###")
    assert diagnose(MISSING, turns=turns).side == "agent"


def test_fruitless_turns_are_counted_from_the_one_with_the_last_new_call_on():
    turns = said("Hi!", "Hi", "One.", "u", "Two.", "u", "Three.", "u")
    assert fruitless_turns(Behaviour(turns=turns)) == 3
    first = Call(name="a", arguments={}, message=7)
    assert fruitless_turns(Behaviour(turns=turns, calls=[first])) == 2
    again = [first, Call(name="a", arguments={}, message=11)]
    assert fruitless_turns(Behaviour(turns=turns, calls=again)) == 2
    new = [first, Call(name="b", arguments={}, message=11)]
    assert fruitless_turns(Behaviour(turns=turns, calls=new)) == 1
    assert fruitless_turns(Behaviour(turns=said("Hi!", "Hi"))) == 0


def test_a_question_is_asked_again_from_the_second_time_on():
    ask = "What is your user id?"
    once = said("Hi!", "Hi", ask, "u1")
    assert asked_again(Behaviour(turns=once)) is None
    twice = asked_again(Behaviour(turns=said("Hi!", "Hi", ask, "u1", f"{ask} When do you leave?")))
    assert (twice.text, twice.times) == (ask, 2)
    other = said("Hi!", "Hi", ask, "u1", ask, "u1", "When do you leave?")
    assert asked_again(Behaviour(turns=other)) is None


def test_a_user_that_says_the_same_up_to_the_limit_did_nothing_wrong_by_that():
    found = diagnose(
        termination="max_steps", turns=said("a", "Go on.", "b", "Go on.", "c", "go on.")
    )
    assert (found.kind, found.side) == ("loop", "agent")


def test_a_user_that_makes_the_same_call_up_to_the_limit_is_at_fault():
    calls = [Call(name="switch", arguments={}, requestor="user", result="off")] * 3
    assert diagnose(termination="max_steps", calls=calls).side == "user"
