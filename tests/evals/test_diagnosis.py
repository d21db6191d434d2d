"""Why a trial did not pass, from what is known of it: each rule by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.diagnosis import (
    BusinessConduct,
    Call,
    CallDifference,
    Conduct,
    Departure,
    Path,
    Reply,
    Turn,
    diagnose_answer,
    diagnose_broken,
    diagnose_business,
    diagnose_conversation,
    diagnosis_of,
)
from evals.outcome import AgentErrorEnd, Check, Component, Failed, Scored, TaskResult

ADDRESS = "set_address"
MISSING = CallDifference(how="missing", name=ADDRESS, expected={"city": "Bern"})
WRONG = CallDifference(
    how="differs",
    name=ADDRESS,
    arguments={"city": "Basel"},
    expected={"city": "Bern"},
    differing=("city",),
    message=3,
)
EXTRA = CallDifference(how="superfluous", name="cancel", arguments={}, message=5)
READ = Call(name="look", arguments={}, result="42", message=1)
BEGUN = ("Hi!", "Move me to Bern.")
PATH = {"gold_writes": 1, "gold_names": frozenset({ADDRESS, "look"})}


def component(name, *unmet, value=None):
    checks = tuple(Check(description=text, met=False) for text in unmet)
    scored = Scored(value=value if value is not None else float(not unmet), produced_by="rules")
    return Component(name=name, outcome=scored, checks=checks)


def result(*components, premature=None):
    names = tuple(each.name for each in components)
    return TaskResult(basis=names, components=components, premature_end=premature)


def said(*texts):
    """Turns of the agent and the user in turn, the agent first."""
    speakers = ("assistant", "user")
    return [
        Turn(speaker=speakers[place % 2], text=text, message=place * 2)
        for place, text in enumerate(texts)
    ]


WORLD = result(component("DB", "the databases are as after the gold actions"))


def diagnose(*differences, of=WORLD, termination="user_stop", path=(), **conduct):
    where = Path(differences=differences, **{**PATH, **dict(path)})
    return diagnose_conversation(of, Conduct(**conduct), where, termination=termination)


# -- calls ---------------------------------------------------------------------------------------


def test_a_call_with_another_argument_is_a_wrong_write_with_its_departure():
    left = Departure(message=3, call=ADDRESS, step_id="s1")
    found = diagnose(WRONG, path={"departure": left})
    assert (found.kind, found.also, found.side) == ("wrong_write", (), "agent")
    assert found.summary == (
        "A call of set_address has other arguments than on the gold path (city)."
    )
    assert (found.departure, found.calls) == (left, (WRONG,))


def test_the_summary_names_the_call_by_which_the_world_left_the_path():
    found = diagnose(WRONG, EXTRA, path={"departure": Departure(message=5, call="cancel")})
    assert found.summary == "A call of cancel is not on the gold path."


def test_wrong_calls_come_before_those_that_are_missing():
    found = diagnose(EXTRA, MISSING)
    assert (found.kind, found.also) == ("wrong_write", ("missing_write",))


def test_changing_a_world_that_the_gold_path_leaves_alone_is_against_the_policy():
    assert diagnose(EXTRA, path={"gold_writes": 0}).kind == "policy"


def test_a_call_that_only_reads_is_not_against_the_policy():
    path = {"gold_writes": 0, "reads": frozenset({0})}
    assert diagnose(WRONG, path=path).kind == "wrong_write"


def test_an_order_with_another_effect_is_a_wrong_write():
    assert diagnose(path={"other_order": True}).kind == "wrong_write"


def test_a_call_that_was_not_made_by_an_agent_that_says_it_was_is_a_missing_write():
    found = diagnose(MISSING, turns=said(*BEGUN, "All done.", "Thanks ###STOP###"), calls=[READ])
    assert (found.kind, found.also) == ("missing_write", ())
    assert found.summary == "No call of set_address was made, as the gold path has it."


@pytest.mark.parametrize(
    "words", ["I'm sorry, but I cannot do that.", "That is not possible.", "I can’t change it."]
)
def test_an_agent_that_declines_and_writes_nothing_gave_up(words):
    found = diagnose(MISSING, turns=said("Hi!", "Move me.", f"One moment. {words}", "Oh."))
    assert (found.kind, found.also) == ("gave_up", ("missing_write",))
    assert words in found.summary
    assert "One moment" not in found.summary


def test_an_agent_that_declines_after_it_tried_did_not_give_up():
    tried = Call(name="cancel", arguments={}, error=True, writes=True)
    found = diagnose(MISSING, turns=said("That is not possible."), calls=[tried])
    assert found.kind == "missing_write"


def test_handing_the_user_over_is_giving_up_unless_it_is_gold():
    over = Call(name="transfer_to_human_agents", arguments={})
    wrote = Call(name="cancel", arguments={}, writes=True)
    assert diagnose(MISSING, calls=[wrote, over]).kind == "gave_up"
    gold = {"gold_names": frozenset({ADDRESS, "transfer_to_human_agents"})}
    assert diagnose(MISSING, calls=[wrote, over], path=gold).kind == "missing_write"


@pytest.mark.parametrize(
    "text", ['{"tool": "set_address"}', "set_address(city='Bern')", "I run `set_address (...)`"]
)
def test_a_call_that_was_only_written_as_text_is_a_matter_of_format(text):
    found = diagnose(MISSING, turns=said(*BEGUN, text, "Thanks ###STOP###"))
    assert (found.kind, found.also) == ("format", ("missing_write",))


def replies(*told):
    """Replies of the agent: each a text with its repair, or None for one that was a call."""
    return [Reply(text=text, repairs=(kind,) if kind else ()) for text, kind in told]


TEXT, CUT = ("I moved you.", "plain_text"), ('{"name": "look", ', "unparsable")
ENVELOPE = ('```json\n{"tool": "look"}\n```', "unparsable")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ([TEXT], "The only reply was plain text"),
        ([TEXT, TEXT], "Every reply was plain text"),
        ([CUT, CUT], "Every reply was unparsable JSON"),
        ([ENVELOPE, ENVELOPE], "Every reply was JSON in an unknown form"),
        ([TEXT, CUT, CUT], "Every reply was plain text (1) or unparsable JSON (2)"),
        ([TEXT, ("", "empty")], "Every reply was plain text (1) or empty (1)"),
    ],
)
def test_an_agent_that_never_sent_a_call_is_told_so_before_anything_else(told, words):
    sorry = said(*BEGUN, "I cannot do that.", "Oh. ###STOP###")
    found = diagnose(MISSING, turns=sorry, replies=replies(*told), expected_replies=["a", "b"])
    assert (found.kind, found.also) == ("format", ("gave_up", "missing_write"))
    assert found.summary == f"{words}, not a JSON call; no tool was called."
    assert found.reply_format.replies == len(told)
    assert found.reply_format.expected == ("a", "b")


def test_the_example_is_of_the_form_that_most_replies_have_on_one_line_and_cut():
    long = ('{"a":\n ' + "x" * 500, "unparsable")
    found = diagnose(MISSING, replies=replies(TEXT, long, long))
    assert found.reply_format.repairs == {"plain_text": 1, "unparsable": 2}
    assert found.reply_format.example == '{"a": ' + "x" * 291 + "..."


@pytest.mark.parametrize(
    "told",
    [
        [("Hello.", None)],
        [("Hello.", None), TEXT],
        [("Hello.", "fenced")],
        [("", "empty")],
        [],
    ],
)
def test_an_agent_that_spoke_in_the_documented_form_or_not_at_all_is_not_told_of_its_form(told):
    found = diagnose(MISSING, replies=replies(*told))
    assert (found.kind, found.also, found.reply_format) == ("missing_write", (), None)


def test_plain_text_does_not_explain_a_task_without_anything_to_call():
    of = result(component("DB"), component("COMMUNICATE", "327"))
    found = diagnose(of=of, path={"gold_names": frozenset()}, replies=replies(TEXT))
    assert found.kind == "communication"
    assert "Repairs that it took to read the agent's replies: plain_text 1." in found.findings


def test_a_gold_path_that_cannot_be_fulfilled_comes_before_the_form_of_replies():
    of = result(component("ENV_ASSERTION", "assert_status"))
    found = diagnose(of=of, path={"unmet_by_gold": (0,)}, replies=replies(TEXT))
    assert (found.kind, found.also) == ("harness", ("format",))


def test_a_call_that_could_not_be_read_is_evidence_beside_the_calls_that_were_made():
    unread = (f'{{"name": "{ADDRESS}", "arguments": {{', "unparsable")
    found = diagnose(WRONG, calls=[READ], replies=replies(("", None), unread))
    assert (found.kind, found.also) == ("wrong_write", ("format",))
    assert found.findings[0] == (
        "A reply that writes a call of set_address could not be read as one."
    )
    assert found.reply_format.example == unread[0]
    other = diagnose(WRONG, calls=[READ], replies=replies(("", None), CUT))
    assert (other.also, other.reply_format) == ((), None)


# -- endings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("turns", "words"),
    [(BEGUN, "neither text nor a call"), (("Let me see.",), "text where only calls are read")],
)
def test_a_conversation_that_the_agents_last_turn_ended_is_a_matter_of_format(turns, words):
    found = diagnose(MISSING, turns=said(*turns), termination="agent_error")
    assert (found.kind, found.summary) == ("format", f"The agent sent {words}.")


def test_equal_calls_with_equal_results_up_to_the_limit_are_a_loop():
    cut = result(component("DB", "x"), premature="max_steps")
    found = diagnose(MISSING, of=cut, termination="max_steps", calls=[READ] * 3)
    assert (found.kind, found.also) == ("loop", ("missing_write",))
    assert found.summary == "3 equal calls of look had the same result, until the limit of steps."


def test_calls_with_other_results_are_no_loop():
    calls = [Call(name="look", arguments={}, result=str(number)) for number in range(5)]
    found = diagnose(MISSING, termination="max_steps", calls=calls)
    assert (found.kind, found.also) == ("missing_write", ("loop",))


def test_equal_calls_in_a_row_explain_a_missing_one_and_scattered_ones_do_not():
    other = Call(name="search", arguments={})
    assert diagnose(MISSING, calls=[READ] * 3).kind == "loop"
    scattered = diagnose(MISSING, calls=[READ, other, READ, other, READ])
    assert scattered.kind == "missing_write"
    assert "3 equal calls of look had the same result." in scattered.findings


def test_an_agent_that_says_the_same_up_to_the_limit_is_a_loop():
    turns = said("Hi!", "Hi", "Yes?", "a", "Yes?", "b", "yes? ")
    found = diagnose(termination="max_steps", turns=turns)
    assert (found.kind, found.side) == ("loop", "agent")
    assert found.summary == (
        "The agent asked the same question 3 times ('yes?'), until the limit of steps."
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


def test_declining_again_and_again_is_giving_up_and_no_loop():
    no = "I cannot do that. Would you like me to transfer you?"
    turns = said("Hi!", "Move me.", no, "Please!", no, "Please!", no, "###STOP###")
    assert diagnose(MISSING, turns=turns).kind == "gave_up"


def test_a_user_that_says_the_same_up_to_the_limit_did_nothing_wrong_by_that():
    found = diagnose(
        termination="max_steps", turns=said("a", "Go on.", "b", "Go on.", "c", "go on.")
    )
    assert (found.kind, found.side) == ("loop", "agent")


def test_a_user_that_makes_the_same_call_up_to_the_limit_is_at_fault():
    calls = [Call(name="switch", arguments={}, requestor="user", result="off")] * 3
    assert diagnose(termination="max_steps", calls=calls).side == "user"


def test_all_done_and_no_end_is_a_loop():
    found = diagnose(of=result(component("DB"), premature="max_steps"), termination="max_steps")
    assert (found.kind, found.also) == ("loop", ())


@pytest.mark.parametrize(
    ("calls", "kind", "side"),
    [
        ([Call(name="x", arguments={}, error=True, result="no")] * 4, "loop", "agent"),
        (
            [
                Call(name=f"x{n}", arguments={}, error=True, result=f"Tool 'x{n}' not found.")
                for n in range(4)
            ],
            "format",
            "agent",
        ),
        (
            [Call(name="x", arguments={"n": n}, error=True, result="No.") for n in range(4)],
            "wrong_write",
            "agent",
        ),
        (
            [Call(name="x", arguments={"n": n}, requestor="user", error=True) for n in range(4)],
            "user_simulator",
            "user",
        ),
    ],
)
def test_too_many_errors_are_told_apart_by_what_failed(calls, kind, side):
    found = diagnose(MISSING, termination="too_many_errors", calls=calls)
    assert (found.kind, found.side) == (kind, side)


# -- the user ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "answered", "early"),
    [
        ("Shall I change it? (yes/no)", "Yes, please. ###STOP###", True),
        ("Please confirm the change.", "###STOP###", True),
        ("Which city?", "###OUT-OF-SCOPE###", True),
        ("Shall I change it?", "No, leave it. ###STOP###", False),
        ("Done. Is there anything else?", "###STOP###", False),
        ("Anything else I can help with?", "Yes, thanks! ###STOP###", False),
        ("All done.", "Thanks ###STOP###", False),
    ],
)
def test_a_user_that_hangs_up_before_the_agent_could_act_is_at_fault(asked, answered, early):
    found = diagnose(MISSING, turns=said(*BEGUN, asked, answered))
    assert (found.kind == "user_simulator") is early
    assert (found.side == "user") is early


ASKED = "Which task is it?"


@pytest.mark.parametrize("left", ["###STOP###", "Yes. ###STOP###", "###OUT-OF-SCOPE###"])
def test_a_user_may_leave_when_it_is_asked_the_same_again(left):
    first = said("Hi!", "Move me.", ASKED, left)
    assert diagnose(MISSING, turns=first).side == "user"
    again = diagnose(MISSING, turns=said("Hi!", "Move me.", ASKED, "That one.", ASKED, left))
    assert (again.kind, again.side) == ("loop", "agent")
    assert again.summary == (
        f"The agent asked the same question 2 times ({ASKED!r}), and the user left."
    )
    often = diagnose(
        MISSING, turns=said("Hi!", "Move me.", *[ASKED, "That one."] * 46, ASKED, left)
    )
    assert (often.kind, often.side) == ("loop", "agent")
    assert often.summary == f"The agent asked the same question 47 times ({ASKED!r})."


def test_a_user_may_leave_after_many_turns_that_came_to_nothing():
    letters = "abcdefg"
    talk = [text for each in letters for text in (f"Do you know {each * 9}?", "No.")]
    found = diagnose(
        MISSING, turns=said("Hi!", "Move me.", *talk, "How old are you?", "###STOP###")
    )
    assert (found.kind, found.side) == ("missing_write", "agent")
    assert "The agent took 8 turns in a row without a new call." in found.findings
    brief = said("Hi!", "Move me.", *talk[2:], "How old are you?", "###STOP###")
    assert diagnose(MISSING, turns=brief).side == "user"


def test_a_user_that_has_nothing_to_answer_is_at_fault_only_where_it_was_asked():
    told = said("Hi!", "Move me.", "That is how it is.", "###OUT-OF-SCOPE###")
    assert diagnose(MISSING, turns=told).side == "agent"


def test_a_user_that_stops_with_its_first_words_is_at_fault():
    assert diagnose(MISSING, turns=said("Hi!", "Bye. ###STOP###")).kind == "user_simulator"


TOGGLE = CallDifference(how="missing", name="toggle_roaming", requestor="user", expected={})


@pytest.mark.parametrize(
    ("asked", "at_fault"),
    [
        ("Please turn on roaming on your phone.", True),
        ("Now run toggle_roaming()", True),
        ("Roaming is expensive.", False),
        ("Please restart your phone. Roaming is off.", False),
    ],
)
def test_a_user_that_does_not_do_what_it_was_asked_is_at_fault(asked, at_fault):
    found = diagnose(TOGGLE, turns=said(*BEGUN, asked, "Hm. ###STOP###"))
    assert (found.kind == "user_simulator") is at_fault


def test_a_user_that_is_asked_with_the_last_words_had_no_time_to_follow():
    assert diagnose(TOGGLE, turns=said("Hi", "Hi", "Please turn on roaming.")).side == "agent"


def test_a_user_that_says_other_than_its_instructions_misleads_the_agent():
    turns = said("Where to?", "To Basel, please.", "Done.", "###STOP###")
    misled = diagnose(WRONG, turns=turns, instructions="You move to Bern.")
    assert (misled.kind, misled.also, misled.side) == ("user_simulator", ("wrong_write",), "user")
    told = diagnose(WRONG, turns=turns, instructions="Say Basel first, then Bern.")
    assert told.kind == "wrong_write"


def test_a_user_that_calls_with_arguments_of_its_own_is_at_fault():
    made = {"how": "differs", "name": "switch", "requestor": "user", "message": 4}
    unknown = CallDifference(**made, arguments={"x": 1}, expected={}, differing=("x",))
    assert diagnose(unknown).kind == "user_simulator"
    other = CallDifference(
        **made, arguments={"mode": "slow"}, expected={"mode": "fast"}, differing=("mode",)
    )
    assert diagnose(other, turns=said("Set it to fast.", "ok")).kind == "user_simulator"
    assert diagnose(other, turns=said("Set it to slow.", "ok")).kind == "wrong_write"


# -- words, and what nobody could have done -----------------------------------------------------


def test_what_was_not_told_is_a_matter_of_communication():
    found = diagnose(of=result(component("COMMUNICATE", "327", "Bern")), calls=[READ])
    assert (found.kind, found.not_communicated) == ("communication", ("327", "Bern"))
    assert found.summary == "The user was not told '327', 'Bern'."


def test_an_agent_that_declined_and_did_nothing_gave_up_what_it_should_have_told():
    found = diagnose(of=result(component("COMMUNICATE", "327")), turns=said("I cannot help."))
    assert (found.kind, found.also) == ("gave_up", ("communication",))


def test_calls_are_no_evidence_where_the_world_is_right():
    found = diagnose(MISSING, of=result(component("DB"), component("COMMUNICATE", "327")))
    assert (found.kind, found.calls) == ("communication", ())


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("Agent should not offer a refund.", "policy"),
        ("Agent refuses the upgrade.", "policy"),
        ("Agent tells that there are 10 options.", "communication"),
    ],
)
def test_a_statement_that_forbids_is_policy_and_another_communication(statement, kind):
    found = diagnose(of=result(component("NL_ASSERTION", statement)))
    assert found.kind == kind
    assert statement in found.summary


def test_what_the_gold_path_itself_does_not_fulfil_is_nobodys_fault_who_played():
    of = result(component("ENV_ASSERTION", "assert_status"))
    found = diagnose(of=of, path={"unmet_by_gold": (0,)})
    assert (found.kind, found.side) == ("harness", "harness")
    assert found.summary == "The task's own gold path does not fulfil assert_status."


def test_an_assertion_that_the_gold_path_fulfils_is_the_agents():
    of = result(component("ENV_ASSERTION", "assert_status", "assert_number"))
    assert diagnose(MISSING, of=of, path={"unmet_by_gold": (1,)}).kind == "missing_write"


def test_a_wrong_world_without_a_difference_stays_undetermined():
    found = diagnose()
    assert (found.kind, found.side) == ("undetermined", "agent")
    assert found.findings == ("Not met: the databases are as after the gold actions.",)


# -- failed trials, answers, scenarios ----------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "reason", "kind"),
    [
        ("user", "UserModelError: no", "user_simulator"),
        ("infrastructure", "AgentUnreachableError: no", "infrastructure"),
        ("harness", "KeyError: 'x'", "harness"),
    ],
)
def test_a_failed_trial_is_diagnosed_by_its_fault(fault, reason, kind):
    found = diagnose_broken(Failed(reason=reason, fault=fault))
    assert (found.kind, found.side, found.summary) == (kind, fault, f"{reason}.")


@pytest.mark.parametrize("kind", ["agent_error", "gave_up", "no_reply"])
def test_a_trial_that_the_agent_ended_is_diagnosed_by_how_and_quotes_it(kind):
    found = diagnose_broken(AgentErrorEnd(kind=kind, text="KeyError: 'x' (it failed its task)"))
    assert (found.kind, found.side) == (kind, "agent")
    assert found.summary == "KeyError: 'x' (it failed its task)."


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("", "format"), ("I cannot help with that.", "gave_up"), ("It costs 12.", "communication")],
)
def test_an_answer_is_missing_refused_or_wrong(answer, kind):
    graded = result(component("COMMUNICATE", "says '15'", "does not say '12'"))
    found = diagnose_answer(graded, answer)
    assert (found.kind, found.not_communicated) == (kind, ("'15'",))
    assert "The user was told '12', which is not right." in (found.summary, *found.findings)


BUSINESS = result(component("STATE"), component("POLICY"), component("COMMUNICATE"))


@pytest.mark.parametrize(
    ("known", "kinds"),
    [
        ({"forbidden": ["pay"], "also_changed": "paid"}, ("policy", "wrong_write")),
        ({"also_changed": "paid", "undone": ["a"]}, ("wrong_write", "missing_write")),
        ({"also_changed": "paid", "expects_changes": False}, ("policy",)),
        ({"handed_over": True, "undone": ["a"]}, ("gave_up", "missing_write")),
        ({"undone": ["a"]}, ("missing_write",)),
        ({"not_asked": ["a"], "undone": ["b"]}, ("policy", "missing_write")),
        ({"kept": True}, ("policy",)),
        ({}, ("undetermined",)),
    ],
)
def test_a_scenario_is_diagnosed_by_its_policy_first_then_by_its_records(known, kinds):
    found = diagnose_business(BUSINESS, BusinessConduct(conduct=Conduct(calls=[READ]), **known))
    assert (found.kind, *found.also) == kinds


def test_an_agent_that_declines_a_scenario_gave_up_unless_it_wrote():
    declined = said("I am unable to do that.")
    idle = BusinessConduct(conduct=Conduct(turns=declined), undone=["a"])
    assert diagnose_business(BUSINESS, idle).kind == "gave_up"
    wrote = Call(name="pay", arguments={}, writes=True)
    tried = BusinessConduct(conduct=Conduct(turns=declined, calls=[wrote]), undone=["a"])
    assert diagnose_business(BUSINESS, tried).kind == "missing_write"


# -- bounds --------------------------------------------------------------------------------------


def test_a_diagnosis_lists_so_many_calls_and_counts_the_rest():
    found = diagnosis_of([], calls=[MISSING] * 25)
    assert len(found.calls) == 20
    assert found.findings == ("5 more calls differ.",)


@settings(max_examples=30)
@given(st.lists(st.text(max_size=40), max_size=8), st.sampled_from(["user_stop", "max_steps"]))
def test_whatever_is_said_there_is_one_diagnosis_and_always_the_same(texts, termination):
    found = [
        diagnose(MISSING, TOGGLE, turns=said(*texts), termination=termination) for _ in range(2)
    ]
    assert found[0] == found[1]
    assert found[0].kind not in found[0].also
    assert found[0].kind != "undetermined"
