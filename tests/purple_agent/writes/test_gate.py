"""What the gate lets pass, and what it says of the rest."""

import pytest

from purple_agent.case import Dialect, Entry, Session, ToolCall, ToolResult, ToolSpec
from purple_agent.policy.rules import Action, read_policy
from purple_agent.process.machine import ApprovalStatus, Evidence, Sign, State
from purple_agent.writes.gate import decide, refusal, rule_on, subject_of


def spec(name, *, is_write):
    return ToolSpec(name=name, description="", parameters={"type": "object"}, is_write=is_write)


SPECS = (
    spec("get_expense", is_write=False),
    spec("approve_expense", is_write=True),
    spec("request_approval", is_write=True),
    spec("escalate", is_write=True),
)


def session(*rules, facts=None, **context):
    policy, text = read_policy({"rules": list(rules), "context": context})
    read = [_read(name, fact) for name, fact in (facts or {}).items()]
    return Session(
        context_id="c1",
        dialect=Dialect.BUSINESS,
        policy=policy,
        policy_text=text,
        specs=SPECS,
        facts=facts or {},
        entries=read,
    )


def _read(name, fact):
    """What looking up a record by its id brought."""
    call = ToolCall(id="", name=f"get_{name}", arguments={f"{name}_id": fact["id"]})
    return Entry(role="result", call=call, result=ToolResult(text="", value=fact))


def rule(rule_id, condition, action, **more):
    return {"id": rule_id, "condition": condition, "action": action, **more}


def approving(held, expense_id="E7", **more):
    return held.new_call("approve_expense", {"expense_id": expense_id, **more})


BLOCK = rule("B1", "expense.amount > 500", "block")
APPROVAL = rule("A1", "expense.amount > 100", "require_approval", level="the director")
ESCALATE = rule("E1", "expense.country !== 'FR'", "escalate")
WARN = rule("W1", "expense.amount > 50", "warn", description="keep the receipt")


def expense(amount, expense_id="E7", **more):
    return {"expense": {"id": expense_id, "amount": amount, **more}}


@pytest.mark.parametrize(
    ("amount", "action", "reason"),
    [
        (20, Action.ALLOW, "The policy allows this."),
        (60, Action.WARN, "This is allowed, with a warning: W1: keep the receipt."),
        (200, Action.REQUIRE_APPROVAL, "Rule A1 asks for an approval by the director of E7."),
        (900, Action.BLOCK, "This cannot be done: it is blocked by policy, rule B1."),
    ],
)
def test_a_write_is_ruled_on_over_what_was_read(amount, action, reason):
    held = session(BLOCK, APPROVAL, WARN, facts=expense(amount))
    ruling = rule_on(held, approving(held))
    assert (ruling.action, ruling.reason) == (action, reason)
    assert ruling.passes is (amount <= 60)


def test_a_rule_that_asks_for_a_human_is_escalated():
    held = session(ESCALATE, facts=expense(1, country="DE"))
    ruling = rule_on(held, approving(held))
    assert ruling.action is Action.ESCALATE
    assert ruling.reason == "This has to be escalated to a human, as rule E1 asks for."


def test_the_arguments_of_the_call_are_the_request():
    held = session(rule("R1", "request.amount > 100", "block"))
    assert rule_on(held, approving(held, amount=200)).action is Action.BLOCK
    assert rule_on(held, approving(held, amount=20)).passes


def test_what_is_not_known_is_named_and_escalated():
    held = session(BLOCK, rule("U1", "user.role !== 'clerk'", "escalate"))
    ruling = rule_on(held, approving(held))
    assert ruling.action is Action.ESCALATE
    assert ruling.unknown == ("expense.amount", "user.role")
    assert ruling.needs == ("expense", "user")
    assert ruling.reason == (
        "This has to be escalated to a human: rules B1, U1 cannot be judged, because "
        "expense.amount, user.role are not known."
    )


def test_a_certain_block_needs_nothing_more():
    held = session(BLOCK, rule("U1", "user.role !== 'clerk'", "escalate"), facts=expense(900))
    ruling = rule_on(held, approving(held))
    assert (ruling.action, ruling.unknown) == (Action.BLOCK, ())


def test_a_possible_block_outweighs_a_certain_approval():
    held = session(APPROVAL, rule("B2", "expense.fraud", "block"), facts=expense(200))
    held.process = held.process.advance(Evidence(sign=Sign.APPROVAL_GRANTED, subject="E7"))
    ruling = rule_on(held, approving(held))
    assert (ruling.action, ruling.unknown) == (Action.ESCALATE, ("expense.fraud",))


def test_rules_and_policies_that_cannot_be_read_let_nothing_pass():
    held = session(rule("R1", "amount >", "block"))
    ruling = rule_on(held, approving(held))
    assert ruling.action is Action.ESCALATE
    assert ruling.reason == "This has to be escalated to a human: rule R1 cannot be read."
    held.policy, _ = read_policy('{"rules": [')
    assert "the policy cannot be read (it starts like" in rule_on(held, approving(held)).reason
    assert rule_on(held, approving(held)).action is Action.ESCALATE


@pytest.mark.parametrize(
    "arguments",
    [
        {"expense_id": "E8"},
        {"expenseId": "E8"},
        {"id": "E8"},
        {"subject_id": "E8"},
        {"expense_ids": ["E7", "E8"]},
        {"expense": "E8"},
        {"exp_id": "E8"},
        {"user_id": "U1"},
        {"paid": True},
        {},
    ],
)
def test_what_was_read_of_another_subject_does_not_speak_for_this_one(arguments):
    held = session(BLOCK, facts=expense(20))
    ruling = rule_on(held, held.new_call("approve_expense", arguments))
    assert (ruling.action, ruling.unknown) == (Action.ESCALATE, ("expense.amount",))


@pytest.mark.parametrize(
    "arguments",
    [
        {"expense_id": "e7 "},
        {"expense_id": "E7", "user_id": "U1"},
        {"expense_ids": ["E7"]},
        {"expense": "E7"},
        {"exp_id": "E7"},
        {"id": "E7"},
    ],
)
def test_what_was_read_of_the_same_subject_does(arguments):
    held = session(BLOCK, facts=expense(20))
    assert rule_on(held, held.new_call("approve_expense", arguments)).passes


def test_an_argument_may_name_what_was_read_by_more_than_its_id():
    held = session(rule("B1", "customer.blocked", "block"))
    fact = {"id": "C1", "name": "Jane Doe", "blocked": False}
    found = ToolCall(id="", name="find_customer", arguments={"name": "Jane Doe"})
    held.specs = (*held.specs, spec("find_customer", is_write=False))
    held.entries.append(Entry(role="result", call=found, result=ToolResult(text="", value=fact)))
    assert rule_on(held, held.new_call("approve_expense", {"customer": "jane doe"})).passes
    assert not rule_on(held, held.new_call("approve_expense", {"customer": "Joe"})).passes


def test_what_was_read_of_others_speaks_for_them_alone():
    held = session(BLOCK, facts={**expense(20), "user": {"id": "U1", "role": "clerk"}})
    held.facts["orders"] = [{"id": "O1"}]
    call = held.new_call("approve_expense", {"expense_id": "E7", "user_id": "U2"})
    assert rule_on(held, call).passes
    held.policy, _ = read_policy({"rules": [rule("R1", "user.role !== 'clerk'", "block")]})
    assert rule_on(held, call).unknown == ("user.role",)


def test_numbers_and_texts_are_the_same_id():
    held = session(BLOCK, facts=expense(20, expense_id=7))
    assert rule_on(held, approving(held, expense_id="7")).passes


@pytest.mark.parametrize("name", ["get_expense", "request_approval", "escalate"])
def test_reads_and_control_tools_pass_whatever_the_policy_says(name):
    held = session(rule("B1", "true", "block"))
    call = held.new_call(name, {"subject_id": "E7"})
    assert rule_on(held, call).free
    assert refusal(held, call) == ""
    assert decide(held, call).passes
    assert held.process.state is State.DECOMPOSE


@pytest.mark.parametrize("name", ["get_secrets", "escalate_to_human"])
def test_a_tool_that_nobody_listed_counts_as_a_write(name):
    held = session(rule("B1", "true", "block"))
    assert rule_on(held, held.new_call(name, {})).action is Action.BLOCK


STATUS = {
    Sign.APPROVAL_PENDING: (Action.REQUIRE_APPROVAL, "is pending"),
    Sign.APPROVAL_DENIED: (Action.BLOCK, "E7 is not approved"),
    Sign.APPROVAL_GRANTED: (Action.ALLOW, "E7 is approved, as rule A1 asks for."),
}


@pytest.mark.parametrize("sign", STATUS)
def test_an_approval_counts_as_the_tool_told_it(sign):
    held = session(APPROVAL, facts=expense(200))
    held.process = held.process.advance(Evidence(sign=sign, subject="E7"))
    ruling = rule_on(held, approving(held))
    action, words = STATUS[sign]
    assert ruling.action is action
    assert words in ruling.reason
    assert ruling.approval.status is ApprovalStatus(sign.removeprefix("approval_"))


def test_the_approval_of_another_subject_counts_for_nothing():
    held = session(rule("A1", "true", "require_approval"))
    held.process = held.process.advance(Evidence(sign=Sign.APPROVAL_GRANTED, subject="E8"))
    ruling = rule_on(held, approving(held, user_id="E8"))
    assert (ruling.action, ruling.subject) == (Action.REQUIRE_APPROVAL, "E7")


def test_an_approval_does_not_lift_a_block():
    held = session(BLOCK, APPROVAL, facts=expense(900))
    held.process = held.process.advance(Evidence(sign=Sign.APPROVAL_GRANTED, subject="E7"))
    assert rule_on(held, approving(held)).action is Action.BLOCK


@pytest.mark.parametrize(
    ("tool", "arguments", "subject"),
    [
        ("update_order", {"customer_id": "C1", "order_id": "O1"}, "O1"),
        ("update_order", {"subject_id": "S1", "customer_id": "C1"}, "S1"),
        ("update_order", {"note": "x", "customer_id": "C1", "user_id": "U1"}, "C1"),
        ("update_order", {"id": 5}, "5"),
        ("updateOrder", {"customerId": "C1", "orderId": "O1"}, "O1"),
        ("update_order", {"order_id": "", "a": 1}, 'update_order {"a": 1, "order_id": ""}'),
        ("update_order", {"order": "O1"}, 'update_order {"order": "O1"}'),
        (
            "update_order",
            {"id": ["a"], "flag_id": True},
            'update_order {"flag_id": true, "id": ["a"]}',
        ),
        ("purge", {}, "purge"),
    ],
)
def test_the_subject_of_a_call_is_the_id_that_it_is_about(tool, arguments, subject):
    held = session()
    assert subject_of(held.new_call(tool, arguments)) == subject


@pytest.mark.parametrize(
    ("amount", "state"),
    [(20, State.EXECUTE), (200, State.APPROVAL_GATE), (900, State.FAILED)],
)
def test_deciding_moves_the_process(amount, state):
    held = session(BLOCK, APPROVAL, facts=expense(amount))
    decide(held, approving(held))
    assert held.process.state is state
    assert State.POLICY_CHECK in held.process.history
    assert not held.process.notes


def test_outside_execute_a_write_is_refused_though_the_policy_allows_it():
    held = session()
    assert refusal(held, approving(held)) == (
        "Nothing may be changed while the process stands in DECOMPOSE."
    )
    decide(held, approving(held))
    assert refusal(held, approving(held)) == ""
    held.process = held.process.advance(Evidence(sign=Sign.WRITTEN))
    assert "POLICY_CHECK" in refusal(held, approving(held))


def test_what_was_decided_of_one_write_lets_no_other_one_pass():
    held = session(BLOCK, facts=expense(20))
    decide(held, approving(held))
    assert "expense.amount is not known" in refusal(held, approving(held, expense_id="E8"))


def test_a_granted_approval_leads_on_to_the_write():
    held = session(APPROVAL, facts=expense(200))
    call = approving(held)
    assert decide(held, call).action is Action.REQUIRE_APPROVAL
    assert "asks for an approval" in refusal(held, call)
    held.process = held.process.advance(Evidence(sign=Sign.APPROVAL_GRANTED, subject="E7"))
    assert refusal(held, call) == ""


def test_many_rules_are_not_all_named():
    held = session(*(rule(f"R{at}", "true", "block") for at in range(50)))
    reason = rule_on(held, approving(held)).reason
    assert reason.endswith("rules R0, R1, R2, R3, R4 and others.")


def granted(held, **more):
    held.process = held.process.advance(Evidence(sign=Sign.APPROVAL_GRANTED, subject="E7", **more))


def test_an_approval_of_one_use_of_a_record_is_none_of_another():
    held = session(APPROVAL, facts=expense(200))
    decide(held, approving(held))
    granted(held)
    assert refusal(held, approving(held)) == ""
    held.specs = (*held.specs, spec("delete_expense", is_write=True))
    deleting = held.new_call("delete_expense", {"expense_id": "E7"})
    assert decide(held, deleting).action is Action.REQUIRE_APPROVAL
    granted(held)
    assert refusal(held, deleting) == ""
    assert decide(held, approving(held)).passes


def test_an_approval_under_some_rules_is_none_under_others():
    held = session(APPROVAL, rule("A2", "request.abroad", "require_approval"), facts=expense(200))
    decide(held, approving(held, abroad=False))
    granted(held)
    assert rule_on(held, approving(held, abroad=False)).passes
    assert rule_on(held, approving(held, abroad=True)).action is Action.REQUIRE_APPROVAL


def test_an_approval_that_no_ruling_asked_for_counts_for_one_use():
    held = session(APPROVAL, facts=expense(200))
    granted(held)
    assert decide(held, approving(held)).passes
    held.specs = (*held.specs, spec("delete_expense", is_write=True))
    assert not decide(held, held.new_call("delete_expense", {"expense_id": "E7"})).passes
    assert decide(held, approving(held)).passes


def test_an_approval_goes_with_a_tool_that_was_named_anew():
    held = session(APPROVAL, facts=expense(200))
    decide(held, approving(held))
    granted(held)
    held.specs = (spec("get_expense", is_write=False), spec("expense_approve", is_write=True))
    assert rule_on(held, held.new_call("expense_approve", {"expense_id": "E7"})).passes


def test_who_approved_is_told_in_the_tools_words_alone():
    held = session(APPROVAL, facts=expense(200))
    granted(held, by="M. Curie")
    assert (
        rule_on(held, approving(held)).reason == "E7 is approved by M. Curie, as rule A1 asks for."
    )


def test_one_approval_does_not_let_every_call_without_an_id_pass():
    held = session(rule("A1", "true", "require_approval"))
    first = held.new_call("updateOrder", {"order": "O1"})
    second = held.new_call("updateOrder", {"order": "O2"})
    subject = decide(held, first).subject
    held.process = held.process.advance(Evidence(sign=Sign.APPROVAL_GRANTED, subject=subject))
    assert refusal(held, first) == ""
    assert not rule_on(held, second).passes


def test_the_subject_of_a_long_call_is_bounded_and_its_own():
    held = session()
    one, other = (held.new_call("purge", {"text": "x" * 500 + end}) for end in "ab")
    assert len(subject_of(one)) <= 200
    assert subject_of(one) != subject_of(other)
