"""Stage 4: the policy is read once, pinned, and ends what it rules out at once."""

import json

import pytest

from purple_agent.case import Answer, Case, Dialect, Incoming, Session
from purple_agent.process.machine import State
from purple_agent.stages.policy import INVALID, PINNED, PolicyStage


def case_of(policy_doc, text="Pay it.", session=None, dialect=Dialect.BUSINESS):
    metadata = {} if policy_doc is None else {"policy_doc": policy_doc}
    incoming = Incoming(context_id="c1", message_id="m1", text=text, metadata=metadata)
    return Case(incoming=incoming, session=session or Session(context_id="c1", dialect=dialect))


def document(condition, action="block", **context):
    return {"rules": [{"id": "R1", "condition": condition, "action": action}], "context": context}


async def test_rules_and_prose_are_pinned_to_the_session():
    case = await PolicyStage()(case_of(document("x > 1")))
    assert case.session.policy.rules[0].id == "R1"
    assert json.loads(case.session.policy_text) == document("x > 1")
    case = await PolicyStage()(case_of("Be kind."))
    assert (case.session.policy.rules, case.session.policy_text) == ((), "Be kind.")


async def test_a_later_message_cannot_replace_the_policy():
    first = await PolicyStage()(case_of(document("x > 1")))
    same = await PolicyStage()(case_of(document("x > 1"), session=first.session))
    none = await PolicyStage()(case_of(None, session=first.session))
    other = await PolicyStage()(case_of({"rules": []}, session=first.session))
    assert (same.flags, none.flags, other.flags) == ((), (), (PINNED,))
    assert len(first.session.policy.rules) == 1


async def test_a_policy_with_faults_is_flagged_and_goes_on():
    case = await PolicyStage()(case_of(document("x >")))
    assert case.flags == (INVALID,)
    case = await PolicyStage()(case_of('{"rules": ['))
    assert case.flags == (INVALID,)
    assert case.session.policy.unreadable


async def test_a_damaged_policy_cannot_be_replaced_either():
    first = await PolicyStage()(case_of('{"rules": ['))
    again = await PolicyStage()(case_of({"rules": []}, session=first.session))
    assert again.session.policy.unreadable


async def test_what_the_policy_alone_rules_out_is_blocked_with_the_rule():
    answer = await PolicyStage()(case_of(document("frozen === true", frozen=True)))
    assert isinstance(answer, Answer)
    assert answer.kind == "blocked"
    assert answer.text == "This cannot be done: it is blocked by policy, rule R1."
    assert answer.metadata["policy"] == {"action": "block", "rules": ["R1"]}


async def test_a_blocked_process_has_failed():
    case = case_of(document("true"))
    await PolicyStage()(case)
    assert case.session.process.state is State.FAILED


@pytest.mark.parametrize(
    "policy_doc",
    [
        document("frozen === true", frozen=False),
        document("frozen === true"),
        document("frozen === true", "escalate", frozen=True),
        document("frozen ==", frozen=True),
        None,
    ],
)
async def test_nothing_else_ends_the_case(policy_doc):
    assert isinstance(await PolicyStage()(case_of(policy_doc)), Case)


async def test_what_was_read_of_an_earlier_subject_ends_no_later_message():
    first = await PolicyStage()(case_of(document("expense.amount > 5")))
    first.session.facts["expense"] = {"amount": 9}
    assert isinstance(await PolicyStage()(case_of(None, session=first.session)), Case)


@pytest.mark.parametrize(
    ("text", "blocked"),
    [
        ("What is the limit?", False),
        (" is E7 paid? ", False),
        ("Pay E7.", True),
        ("Can you pay E7?", True),
        ("What I want: pay E7.", True),
        ("", True),
    ],
)
async def test_a_mere_question_is_not_blocked(text, blocked):
    result = await PolicyStage()(case_of(document("true"), text))
    assert isinstance(result, Answer) is blocked


async def test_the_tau2_wire_has_its_policy_elsewhere():
    case = await PolicyStage()(case_of(document("true"), dialect=Dialect.TAU2))
    assert isinstance(case, Case)
    assert case.session.policy_text == ""
