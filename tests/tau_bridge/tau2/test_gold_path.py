"""Where conversations leave their gold path, by hand on a to-do list."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tau_bridge.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from tau_bridge.tau2.environment import Environment
from tau_bridge.tau2.gold_path import compare_to_gold
from tau_bridge.tau2.gold_replay import MOST_COMPARED, MOST_EFFECTS_TRIED
from tau_bridge.tau2.replay import new_world
from tau_bridge.tau2.tasks import parse_task

HELLO = AssistantMessage(content="Hi! How can I help you today?")
BYE = UserMessage(content="###STOP###")


def create(title, **more):
    return "create_task", {"user_id": "user_1", "title": title, **more}


def update(status, task_id="task_1"):
    return "update_task_status", {"task_id": task_id, "status": status}


READ = ("get_users", {})


def task(*gold, initial_state=None, **criteria):
    actions = [
        {"name": name, "arguments": arguments, **dict(*more)} for name, arguments, *more in gold
    ]
    return parse_task(
        {
            "id": "t",
            "user_scenario": {"instructions": "Do it."},
            "initial_state": initial_state,
            "evaluation_criteria": {"actions": actions, **criteria},
        }
    )


def played(world, *calls):
    """A conversation in which these calls are made, answered by the world."""
    messages = [HELLO]
    for number, (name, arguments, *more) in enumerate(calls):
        requestor = more[0] if more else "assistant"
        call = ToolCall(id=f"c{number}", name=name, arguments=arguments, requestor=requestor)
        speaker = AssistantMessage if requestor == "assistant" else UserMessage
        messages += [speaker(tool_calls=(call,)), world.respond(call)]
    return [*messages, BYE]


@pytest.fixture
def compare(mock):
    def compare(the_task, *calls, **options):
        messages = played(new_world(mock, the_task, solo=options.get("solo", False)), *calls)
        if options.get("solo"):
            messages = [message for message in messages if not isinstance(message, UserMessage)]
        return compare_to_gold(mock, the_task, messages, **options)

    return compare


def gaps(found):
    return [(gap.how, gap.name, gap.differing, gap.message) for gap in found.gaps]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_gold_calls_are_on_the_path_in_every_order_that_does_not_matter(compare, order):
    gold = [create("A"), update("completed"), READ]
    found = compare(task(*gold), *[gold[place] for place in order])
    assert (found.gaps, found.divergence, found.other_order) == ((), None, False)


def test_a_call_that_was_not_made_is_missing_and_the_world_never_left_the_path(compare):
    found = compare(task(create("A"), update("completed")), create("A"))
    assert gaps(found) == [("missing", "update_task_status", (), None)]
    assert found.gaps[0].expected == {"task_id": "task_1", "status": "completed"}
    assert found.divergence is None


def test_a_call_with_another_argument_is_where_the_world_leaves_the_path(compare):
    found = compare(task(update("completed"), create("A")), READ, update("completed"), create("B"))
    assert gaps(found) == [("differs", "create_task", ("title",), 5)]
    assert (found.divergence.message, found.divergence.call.name) == (5, "create_task")


def test_the_first_of_two_wrong_calls_is_the_divergence(compare):
    found = compare(task(update("completed")), create("B"), update("completed"), create("C"))
    assert gaps(found) == [
        ("superfluous", "create_task", (), 1),
        ("superfluous", "create_task", (), 5),
    ]
    assert found.divergence.message == 1


def test_what_is_undone_is_no_divergence(compare):
    wrong = [update("completed"), update("pending")]
    found = compare(task(create("A")), *wrong, create("A"))
    assert (found.gaps, found.divergence) == ((), None)


def test_however_many_calls_leave_the_path_the_worlds_are_compared_some_dozens_of_times(
    compare, monkeypatch
):
    compared = []
    differences = Environment.differences

    def counting(self, other):
        compared.append(self)
        return differences(self, other)

    monkeypatch.setattr(Environment, "differences", counting)
    found = compare(task(create("A")), *[create(f"B{number}") for number in range(150)])
    assert (len(found.gaps), found.divergence.message) == (150, 1)
    assert MOST_COMPARED <= len(compared) < 50


def test_what_changes_nothing_is_no_divergence(compare):
    found = compare(task(create("A")), update("pending"), create("A"))
    assert (found.gaps, found.divergence) == ((), None)


def test_a_call_with_the_same_effect_as_a_gold_call_stands_for_it(compare):
    found = compare(task(create("A")), create("A", description=None))
    assert (found.gaps, found.divergence, found.other_order) == ((), None, False)


@pytest.mark.parametrize(("place", "is_found"), [(MOST_EFFECTS_TRIED, True), (9, False)])
def test_a_call_is_tried_against_the_first_eight_gold_calls_of_its_tool(compare, place, is_found):
    gold = [create(str(number)) for number in range(1, 12)]
    gold[place - 1] = create("A")
    found = compare(task(READ, *gold), create("A", description=None))
    assert MOST_EFFECTS_TRIED == 8
    assert (found.divergence is None) is is_found
    assert {gap.how for gap in found.gaps} == ({"missing"} if is_found else {"missing", "differs"})


def test_gold_calls_in_an_order_with_another_effect_are_told_as_such(compare):
    found = compare(task(create("A"), create("B")), create("B"), create("A"))
    assert (found.gaps, found.other_order) == ((), True)
    assert found.divergence.message == 1


def test_a_failed_call_with_a_wrong_argument_differs_and_is_no_divergence(compare):
    found = compare(task(update("completed")), update("completed", "task_9"))
    assert gaps(found) == [("differs", "update_task_status", ("task_id",), 1)]
    assert found.gaps[0].failed
    assert found.divergence is None


def test_a_failed_try_at_a_call_that_succeeded_later_does_not_count(compare):
    the_task = task(update("completed"), update("pending", "task_2"), create("A"))
    found = compare(the_task, update("completed", "task_9"), update("completed"), create("A"))
    assert gaps(found) == [("missing", "update_task_status", (), None)]


def test_an_argument_that_the_task_does_not_compare_differs_where_the_world_does(compare):
    the_task = task((*create("A"), {"compare_args": ["user_id"]}))
    found = compare(the_task, create("B"))
    assert gaps(found) == [("differs", "create_task", ("title",), 1)]


def test_arguments_of_another_json_type_differ(compare):
    found = compare(task(create("2")), create(2))
    assert gaps(found) == [("differs", "create_task", ("title",), 1)]


def test_calls_of_the_user_are_gold_only_by_the_user(compare):
    dismiss = ("dismiss_notification", {"notification_id": "notif_1"})
    the_task = task((*dismiss, {"requestor": "user"}))
    assert compare(the_task, (*dismiss, "user")).gaps == ()
    assert gaps(compare(the_task, dismiss)) == [("missing", "dismiss_notification", (), None)]


def test_a_lone_agent_makes_the_users_calls(compare):
    dismiss = ("dismiss_notification", {"notification_id": "notif_1"})
    assert compare(task((*dismiss, {"requestor": "user"})), dismiss, solo=True).gaps == ()


def test_calls_that_only_read_count_where_actions_do(compare):
    gold = task(READ, ("transfer_to_human_agents", {"summary": "s"}))
    assert compare(gold).gaps == ()
    found = compare(gold, ("transfer_to_human_agents", {"summary": "x"}), check_actions=True)
    assert gaps(found) == [
        ("missing", "get_users", (), None),
        ("differs", "transfer_to_human_agents", ("summary",), 1),
    ]
    assert not any(gap.writes for gap in found.gaps)


@pytest.mark.parametrize(
    ("arguments", "counts"), [({}, True), ({"summary": "s"}, True), ({"summary": "x"}, False)]
)
def test_a_read_without_compared_arguments_may_leave_some_out_and_add_none(
    compare, arguments, counts
):
    gold = task(("transfer_to_human_agents", {"summary": "s"}))
    found = compare(gold, READ, ("transfer_to_human_agents", arguments), check_actions=True)
    assert (found.gaps == ()) is counts
    other = compare(gold, READ, check_actions=True)
    assert gaps(other) == [("missing", "transfer_to_human_agents", (), None)]


def test_calls_of_the_tasks_history_are_not_the_agents(compare, mock):
    call = ToolCall(id="h", name="create_task", arguments=create("Old")[1])
    world = new_world(mock, task())
    history = [
        UserMessage(content="Before."),
        AssistantMessage(tool_calls=(call,)),
        world.respond(call),
    ]
    records = [message.model_dump(exclude_none=True) for message in history]
    the_task = task(update("completed"), initial_state={"message_history": records})
    done = ToolCall(id="d", name="update_task_status", arguments=update("completed")[1])
    messages = [*history, AssistantMessage(tool_calls=(done,)), world.respond(done), BYE]
    found = compare_to_gold(mock, the_task, messages)
    assert [made.call.name for made in found.made] == ["update_task_status"]
    assert (found.gaps, found.divergence) == ((), None)


def test_a_call_that_was_cut_off_before_its_result_was_not_made(mock):
    the_task = task(create("A"))
    call = ToolCall(id="c", name="create_task", arguments=create("A")[1])
    found = compare_to_gold(mock, the_task, [HELLO, AssistantMessage(tool_calls=(call,))])
    assert gaps(found) == [("missing", "create_task", (), None)]


def test_assertions_that_the_gold_path_does_not_fulfil_are_told_by_their_place(compare):
    def expected(status):
        return {
            "env_type": "assistant",
            "func_name": "assert_task_status",
            "arguments": {"task_id": "task_1", "expected_status": status},
        }

    the_task = task(
        update("completed"),
        env_assertions=[expected("completed"), expected("pending")],
        reward_basis=["ENV_ASSERTION"],
    )
    assert compare(the_task, update("completed")).unmet_by_gold == (1,)


CALLS = st.lists(
    st.sampled_from(
        [create("A"), create("B"), update("completed"), update("pending"), update("x", "t"), READ]
    ),
    max_size=6,
)


@settings(max_examples=40)
@given(gold=CALLS, made=CALLS)
def test_whatever_is_called_the_worlds_agree_exactly_where_nothing_is_found(mock, gold, made):
    the_task = task(*gold)
    messages = played(new_world(mock, the_task), *made)
    found = compare_to_gold(mock, the_task, messages)
    reached, wanted = Environment(mock), Environment(mock)
    for name, arguments in made:
        reached.attempt(name, "assistant", arguments)
    for name, arguments in gold:
        wanted.attempt(name, "assistant", arguments)
    effective = [gap for gap in found.gaps if not gap.failed]
    if reached.differences(wanted):
        assert found.gaps or found.other_order
    elif found.divergence is not None:
        assert effective
    calls = [message for message in messages if isinstance(message, ToolMessage)]
    assert len(found.made) == len(calls)
