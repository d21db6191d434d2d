"""Scenarios that were not solved, and why."""

import json

import pytest

from tau_bridge.business.diagnosis import diagnose_scenario
from tau_bridge.business.scoring import grade
from tau_bridge.messages import AssistantMessage, UserMessage

CANCELLED = {"table": "orders", "id": "O-1", "fields": {"status": "cancelled"}}
CANCEL = ("set_order", {"order_id": "O-1", "status": "cancelled"})
ESCALATE = ("escalate", {"subject_id": "O-1"})
ASK = ("request_approval", {"subject_id": "O-1"})


@pytest.fixture
def diagnosed(make_world):
    """The diagnosis of calls, and of an answer, where this is expected."""

    def diagnosed(*calls, answer="O-1", **expected):
        fields = {"outcome": "require_approval", "must_say": [["O-1"]], **expected}
        world = make_world(expected=fields)
        for tool, arguments in calls:
            world.call(tool, arguments)
        messages = [UserMessage(content="Cancel O-1."), AssistantMessage(content=answer)]
        return diagnose_scenario(world, grade(world, [answer]), messages)

    return diagnosed


def test_a_forbidden_call_and_a_missing_approval_are_told_apart(diagnosed):
    expected = {
        "forbidden_calls": [{"tool": "set_order"}, {"tool": "add_order"}],
        "approvals": ["O-1"],
        "changes": [CANCELLED],
    }
    forbidden = diagnosed(ASK, CANCEL, **expected)
    assert (forbidden.kind, forbidden.also) == ("policy", ())
    assert forbidden.summary == "A call was made that the policy forbids: set_order."
    skipped = diagnosed(**expected)
    assert (skipped.kind, skipped.also) == ("policy", ("missing_write",))
    assert skipped.summary == "An approval was needed and not asked for: 'O-1'."
    assert skipped.findings == ("Not changed as expected: orders O-1: status 'cancelled'.",)


def test_handing_over_is_giving_up_and_not_handing_over_is_against_the_policy(diagnosed):
    over = diagnosed(CANCEL, ESCALATE, changes=[CANCELLED])
    assert over.kind == "gave_up"
    assert over.summary == "The case was handed over to a person, who was not needed."
    kept = diagnosed(outcome="escalate")
    assert (kept.kind, kept.summary) == ("policy", "The case was not handed over to a person.")


@pytest.mark.parametrize(("changes", "kind"), [([CANCELLED], "wrong_write"), ([], "policy")])
def test_records_that_should_have_stayed_are_a_wrong_write_or_against_the_policy(
    diagnosed, changes, kind
):
    found = diagnosed(CANCEL, ("set_order", {"order_id": "O-1", "pieces": 3}), changes=changes)
    assert found.kind == kind
    assert "orders O-1: pieces 3" in found.summary


def test_equal_calls_in_a_row_are_a_loop_only_where_something_was_left_undone(diagnosed):
    looks = [("get_order", {"order_id": "O-1"})] * 3
    loop = diagnosed(*looks, changes=[CANCELLED])
    assert (loop.kind, loop.also) == ("loop", ("missing_write",))
    assert diagnosed(*looks, CANCEL, answer="Done.", changes=[CANCELLED]).kind == "communication"


@pytest.mark.parametrize(
    ("calls", "kind"),
    [((), "gave_up"), ([("get_order", {"order_id": "O-1"})], "gave_up"), ([CANCEL], "policy")],
)
def test_an_agent_that_declines_gave_up_unless_it_tried(diagnosed, calls, kind):
    changes = [{**CANCELLED, "fields": {"status": "cancelled", "pieces": 1}}]
    declined = {"answer": "I cannot cancel O-1.", "changes": changes, "approvals": ["O-1"]}
    assert diagnosed(*calls, **declined).kind == kind


def test_the_words_of_a_refusal_are_quoted_without_their_json(diagnosed):
    words = {"content": "Hello! I am sorry, but I cannot help with that."}
    answer = json.dumps({"name": "respond", "arguments": words})
    found = diagnosed(answer=answer, changes=[CANCELLED])
    assert found.summary == (
        "The agent said 'I am sorry, but I cannot help with that.', and did not do what was due."
    )


def test_an_agent_that_declines_after_looking_did_not_give_up_what_was_only_to_be_approved(
    diagnosed,
):
    declined = {"answer": "I cannot cancel O-1.", "approvals": ["O-1"]}
    assert diagnosed(**declined).kind == "gave_up"
    assert diagnosed(("get_order", {"order_id": "O-1"}), **declined).kind == "policy"
