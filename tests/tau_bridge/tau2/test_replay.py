"""Replaying conversations: which calls are repeated, and when the two sides are synchronised."""

import dataclasses

import pytest

from tau_bridge.errors import HarnessError
from tau_bridge.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.environment import Environment
from tau_bridge.tau2.mock import DEFAULT_USER_DATABASE, MockTools, mock_blueprint
from tau_bridge.tau2.replay import apply_gold, exchanges, set_state
from tau_bridge.tau2.tasks import EnvAssertion, GoldAction, parse_task

DATABASE = {"tasks": {}, "users": {"user_1": {"user_id": "user_1", "name": "Ada", "tasks": []}}}
CREATE = {"user_id": "user_1", "title": "Sow"}


class Journal:
    """A mock domain that writes down what happens to it."""

    def __init__(self, source):
        self.lines = []
        journal = self

        class Recording(MockTools):
            def create_task(self, user_id, title):
                journal.lines.append(f"create {title}")
                return super().create_task(user_id, title)

            def get_users(self):
                journal.lines.append("read")
                return super().get_users()

        blueprint = mock_blueprint(DATABASE, DEFAULT_USER_DATABASE)
        self.domain = Domain(
            source,
            "mock",
            dataclasses.replace(
                blueprint,
                agent=dataclasses.replace(blueprint.agent, toolkit=Recording),
                sync=lambda sides: self.lines.append("sync"),
            ),
        )

    def replay(self, *messages, initial_state=None, lenient=True):
        """The environment after a conversation; the journal then holds all that happened."""
        environment = Environment(self.domain)
        set_state(environment, task(initial_state), messages, lenient=lenient)
        return environment


@pytest.fixture
def journal(mock):
    return Journal(mock.source)


def task(initial_state=None):
    return parse_task(
        {
            "id": "t",
            "user_scenario": {"instructions": "Do it."},
            "initial_state": initial_state,
        }
    )


def called(name, arguments=None, *, by=AssistantMessage, requestor=None, content="", call_id="c"):
    """A message with one call, and the recorded result."""
    who = requestor or ("user" if by is UserMessage else "assistant")
    call = ToolCall(id=call_id, name=name, arguments=arguments or {}, requestor=who)
    return by(tool_calls=(call,)), ToolMessage(id=call_id, content=content, requestor=who)


def test_a_new_environment_is_synchronised_at_once(journal):
    Environment(journal.domain)
    assert journal.lines == ["sync"]


def test_a_replay_ends_with_a_synchronisation_even_without_calls(journal):
    journal.replay()
    assert journal.lines == ["sync", "sync"]


def test_each_initialization_action_is_followed_by_a_synchronisation(journal):
    action = {"env_type": "assistant", "func_name": "create_task", "arguments": CREATE}
    journal.replay(initial_state={"initialization_actions": [action, action]})
    assert journal.lines == ["sync", "create Sow", "sync", "create Sow", "sync", "sync"]


def test_a_successful_call_is_synchronised_and_a_failed_one_is_not(journal):
    good = called("create_task", CREATE)
    bad = called("create_task", {"user_id": "nobody", "title": "Mow"})
    journal.replay(*good, *bad)
    assert journal.lines == ["sync", "create Sow", "sync", "create Mow", "sync"]
    journal.lines.clear()
    journal.replay(*bad, *good)
    assert journal.lines == ["sync", "create Mow", "create Sow", "sync", "sync"]


def test_an_assertion_is_followed_by_a_synchronisation(journal):
    environment = Environment(journal.domain)
    assertion = EnvAssertion(
        env_type="assistant",
        func_name="assert_number_of_tasks",
        arguments={"user_id": "user_1", "expected_number": 0},
    )
    assert environment.holds(assertion)
    assert journal.lines == ["sync", "sync"]


def test_gold_actions_are_not_synchronised(journal):
    environment = Environment(journal.domain)
    apply_gold(environment, [GoldAction(name="create_task", arguments=CREATE)])
    assert journal.lines == ["sync", "create Sow"]


def test_gold_actions_that_fail_are_skipped(journal):
    environment = Environment(journal.domain)
    actions = [
        GoldAction(name="create_task", arguments={"user_id": "nobody", "title": "Mow"}),
        GoldAction(name="create_task", arguments={"colour": "red"}),
        GoldAction(name="create_task", arguments=CREATE, requestor="user"),
        GoldAction(name="no_such_tool"),
        GoldAction(name="create_task", arguments=CREATE),
    ]
    apply_gold(environment, actions)
    assert list(environment.sides.tools.db.tasks) == ["task_1"]


def test_calls_that_only_read_and_unknown_tools_are_not_repeated(journal):
    journal.replay(
        *called("get_users"),
        *called("assert_number_of_tasks", {"user_id": "user_1", "expected_number": 1}),
        *called("delete_task"),
        *called("transfer_to_human_agents", {"summary": "x"}),
    )
    assert journal.lines == ["sync", "sync"]


def test_the_requestor_of_a_call_decides_not_the_role_of_its_message(journal):
    environment = journal.replay(*called("create_task", CREATE, by=UserMessage))
    assert not environment.sides.tools.db.tasks
    environment = journal.replay(
        *called("create_task", CREATE, by=UserMessage, requestor="assistant")
    )
    assert list(environment.sides.tools.db.tasks) == ["task_1"]


def test_several_calls_of_one_message_are_answered_in_order(journal):
    calls = tuple(
        ToolCall(id=str(i), name="create_task", arguments={**CREATE, "title": str(i)})
        for i in range(3)
    )
    results = [ToolMessage(id=str(i)) for i in range(3)]
    journal.replay(AssistantMessage(content="working", tool_calls=calls), *results)
    assert [line for line in journal.lines if line != "sync"] == [
        "create 0",
        "create 1",
        "create 2",
    ]


@pytest.mark.parametrize(
    "recorded",
    [
        '{"task_id": "task_1", "title": "Sow", "description": null, "status": "pending"}',
        '{"status":"pending","title":"Sow","task_id":"task_1","description":null}',
    ],
)
def test_a_strict_replay_compares_results_as_json(journal, recorded):
    journal.replay(*called("create_task", CREATE, content=recorded), lenient=False)


@pytest.mark.parametrize("recorded", ['{"task_id": "task_9"}', "Error: no", "", None])
def test_a_strict_replay_refuses_a_result_that_differs(journal, recorded):
    with pytest.raises(HarnessError, match="create_task"):
        journal.replay(*called("create_task", CREATE, content=recorded), lenient=False)


def test_a_lenient_replay_does_not_mind(journal):
    environment = journal.replay(*called("create_task", CREATE, content="Error: no"))
    assert list(environment.sides.tools.db.tasks) == ["task_1"]


CALL, RESULT = called("create_task", CREATE)


@pytest.mark.parametrize(
    "messages",
    [
        [RESULT],
        [CALL],
        [CALL, AssistantMessage(content="done")],
        [CALL, RESULT.model_copy(update={"id": "other"})],
        [CALL, RESULT, RESULT],
    ],
)
def test_messages_that_are_no_conversation_are_refused(messages):
    with pytest.raises(HarnessError):
        exchanges(messages)


def test_a_conversation_that_was_cut_off_may_lack_its_last_results():
    assert exchanges([CALL, RESULT, CALL], cut_off=True) == [
        (CALL.tool_calls[0], RESULT),
    ]


def test_alone_there_are_no_messages_of_a_user(mock):
    environment = Environment(mock, solo=True)
    with pytest.raises(HarnessError, match="solo"):
        set_state(environment, task(), [UserMessage(content="hello")], lenient=True)


def test_telecom_shows_the_user_a_payment_request_and_marks_the_bill_as_paid(telecom):
    user = {"name": "John Smith", "phone_number": "555-123-2002"}
    initial = {
        "initialization_actions": [
            {"env_type": "user", "func_name": "set_user_info", "arguments": user}
        ]
    }
    request = called("send_payment_request", {"customer_id": "C1001", "bill_id": "B1002"})
    payment = called("make_payment", by=UserMessage)
    environment = Environment(telecom)
    set_state(environment, task(initial), [*request], lenient=True)
    assert environment.sides.user_tools.db.surroundings.payment_request.bill_id == "B1002"
    paid = Environment(telecom)
    set_state(paid, task(initial), [*request, *payment], lenient=True)
    assert paid.sides.user_tools.db.surroundings.payment_request is None
    bill = next(bill for bill in paid.sides.tools.db.bills if bill.bill_id == "B1002")
    assert bill.status.value == "Paid"
    gold = Environment(telecom)
    set_state(gold, task(initial), [], lenient=True)
    actions = [
        GoldAction(name=message.tool_calls[0].name, **_of(message.tool_calls[0]))
        for message in (request[0], payment[0])
    ]
    apply_gold(gold, actions)
    # Nothing told the phone of the request, so there was nothing to pay.
    bill = next(bill for bill in gold.sides.tools.db.bills if bill.bill_id == "B1002")
    assert bill.status.value == "Awaiting Payment"


def _of(call):
    return {"requestor": call.requestor, "arguments": call.arguments}
