"""The user of a scenario."""

from tau_bridge.business.user import ScriptedUser


def test_the_user_answers_what_is_asked_first_and_says_every_line_once(make_world):
    lines = [{"text": "Anything else?"}, {"asked": ["which order", "id"], "text": "O-1."}]
    user = ScriptedUser(make_world(lines=lines).scenario)
    answers = ["Which order?", "Which order?", "Which order?"]
    assert [line and line.text for line in map(user.next, answers)] == [
        *["O-1.", "Anything else?", None]
    ]


def test_a_question_is_not_found_inside_of_a_word(make_world):
    user = ScriptedUser(make_world(lines=[{"asked": ["id"], "text": "O-1."}]).scenario)
    assert user.next("I did it.") is None
