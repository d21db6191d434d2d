"""The user of a scenario."""

from tau_bridge.business.caller import ScriptedCaller


def test_the_user_answers_what_is_asked_first_and_says_every_line_once(make_world):
    lines = [{"text": "Anything else?"}, {"asked": ["which order", "id"], "text": "O-1."}]
    caller = ScriptedCaller(make_world(lines=lines).scenario)
    answers = ["Which order?", "Which order?", "Which order?"]
    assert [line and line.text for line in map(caller.next, answers)] == [
        *["O-1.", "Anything else?", None]
    ]


def test_a_question_is_not_found_inside_of_a_word(make_world):
    caller = ScriptedCaller(make_world(lines=[{"asked": ["id"], "text": "O-1."}]).scenario)
    assert caller.next("I did it.") is None
