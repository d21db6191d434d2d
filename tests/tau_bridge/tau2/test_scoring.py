"""Components of a reward, each rule by hand on a to-do list."""

import pytest

from evals.outcome import Failed, Scored, Unscored
from evals.reward import reward_of
from tau_bridge.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from tau_bridge.tau2.scoring import score_components
from tau_bridge.tau2.tasks import parse_task

HELLO = (AssistantMessage(content="Hi! How can I help you today?"), UserMessage(content="Bye."))
NAMES = ["DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE", "NL_ASSERTION"]
DONE = {"task_id": "task_1", "status": "completed"}
COMPLETE = {"name": "update_task_status", "arguments": DONE}


def task(criteria, initial_state=None):
    return parse_task(
        {
            "id": "t",
            "user_scenario": {"instructions": "Do it."},
            "initial_state": initial_state,
            "evaluation_criteria": criteria,
        }
    )


def call(name, arguments=None, *, requestor="assistant", error=False):
    """The messages of one call."""
    speaker = AssistantMessage if requestor == "assistant" else UserMessage
    made = ToolCall(id="c", name=name, arguments=arguments or {}, requestor=requestor)
    return (
        speaker(tool_calls=(made,)),
        ToolMessage(id="c", requestor=requestor, error=error, content="Error: x" if error else ""),
    )


def score(domain, criteria, *messages, initial_state=None, termination="user_stop", **options):
    return score_components(
        domain,
        task(criteria, initial_state),
        messages or HELLO,
        termination=termination,
        **options,
    )


def values(result):
    """Component values by name; None where there is none."""
    return {c.name: getattr(c.outcome, "value", None) for c in result.components}


def component(result, name):
    return next(c for c in result.components if c.name == name)


# -- the whole ---------------------------------------------------------------------------------


def test_every_component_is_there_in_order_whatever_the_basis(mock):
    result = score(mock, {"actions": [], "reward_basis": ["COMMUNICATE"]})
    assert [c.name for c in result.components] == NAMES
    assert result.basis == ("COMMUNICATE",)
    assert set(values(result).values()) == {1.0}


def test_without_criteria_nothing_is_judged_and_the_reward_is_1(mock):
    result = score(mock, None)
    assert (result.basis, result.components) == ((), ())
    assert reward_of(result) == Scored(value=1.0, produced_by="rules")


def test_an_empty_basis_gives_1_whatever_happened(mock):
    result = score(mock, {"actions": [COMPLETE], "reward_basis": []})
    assert result.basis == ()
    assert values(result)["DB"] == 0.0
    assert reward_of(result) == Scored(value=1.0, produced_by="rules")


def test_an_absent_basis_means_db_and_communicate(mock):
    assert score(mock, {"actions": []}).basis == ("DB", "COMMUNICATE")


@pytest.mark.parametrize("reason", ["agent_stop", "user_stop"])
def test_a_regular_end_is_not_premature(mock, reason):
    assert score(mock, {"actions": []}, termination=reason).premature_end is None


def test_a_premature_end_is_named_and_the_components_are_kept(mock):
    result = score(mock, {"actions": []}, termination="max_steps")
    assert result.premature_end == "max_steps"
    assert set(values(result).values()) == {1.0}
    assert reward_of(result) == Scored(value=0.0, produced_by="rules")


def test_calls_that_were_cut_off_before_their_results_had_no_effect(mock):
    asked, _ = call("update_task_status", DONE)
    result = score(mock, {"actions": []}, asked, termination="timeout")
    assert values(result)["DB"] == 1.0
    result = score(mock, {"actions": []}, asked)
    assert isinstance(component(result, "DB").outcome, Failed)


# -- DB ------------------------------------------------------------------------------------------


def test_the_databases_must_be_as_after_the_gold_actions(mock):
    criteria = {"actions": [COMPLETE]}
    assert values(score(mock, criteria, *call("update_task_status", DONE)))["DB"] == 1.0
    missed = component(score(mock, criteria), "DB")
    assert missed.outcome == Scored(value=0.0, produced_by="rules")
    assert missed.checks[0].reason == "different: agent's tasks"


def test_another_way_to_the_same_state_is_as_good(mock):
    back = {"task_id": "task_1", "status": "pending"}
    messages = call("update_task_status", DONE) + call("update_task_status", back)
    assert values(score(mock, {"actions": []}, *messages))["DB"] == 1.0


def test_the_users_database_counts_too(mock):
    messages = call("dismiss_notification", {"notification_id": "notif_1"}, requestor="user")
    result = score(mock, {"actions": []}, *messages)
    assert component(result, "DB").checks[0].reason == "different: user's notifications"


def test_without_actions_and_assertions_the_database_holds_without_a_replay(mock):
    messages = call("update_task_status", DONE)
    result = score(mock, {"communicate_info": []}, *messages)
    assert values(result)["DB"] == values(result)["ENV_ASSERTION"] == 1.0
    # A list, even an empty one, asks for the replay.
    for criteria in ({"actions": []}, {"env_assertions": []}):
        assert values(score(mock, criteria, *messages))["DB"] == 0.0


def test_databases_compare_by_text_and_actions_by_python_equality(mock):
    gold = {"name": "update_task_status", "arguments": {"task_id": "task_1", "status": 2}}
    for status, expected in ((2, (1.0, 1.0)), (2.0, (0.0, 1.0)), ("2", (0.0, 0.0))):
        done = call("update_task_status", {"task_id": "task_1", "status": status})
        found = values(score(mock, {"actions": [gold]}, *done))
        assert (found["DB"], found["ACTION"]) == expected


def test_arguments_are_coerced_only_where_a_model_is_made(mock):
    create = {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Sow"}}
    wrong = call("create_task", {"user_id": "user_1", "title": 5})
    # The title is checked, so the call fails, and nothing is stored.
    assert values(score(mock, {"actions": []}, *wrong))["DB"] == 1.0
    assert values(score(mock, {"actions": [create]}, *wrong))["DB"] == 0.0


def test_the_gold_path_starts_after_the_tasks_message_history(mock):
    create = call("create_task", {"user_id": "user_1", "title": "Sow"})
    records = [message.model_dump(mode="json") for message in create]
    finish = {"task_id": "task_2", "status": "completed"}
    criteria = {"actions": [{"name": "update_task_status", "arguments": finish}]}
    state = {"message_history": records}
    messages = create + call("update_task_status", finish)
    assert values(score(mock, criteria, *messages, initial_state=state))["DB"] == 1.0
    assert values(score(mock, criteria, *create, initial_state=state))["DB"] == 0.0


def test_shared_databases_of_initialization_data_compare_on_both_sides(mock):
    state = {"initialization_data": {"agent_data": {"tasks": {"task_1": {"title": "Dig"}}}}}
    criteria = {"actions": [COMPLETE]}
    done = call("update_task_status", DONE)
    assert values(score(mock, criteria, *done, initial_state=state))["DB"] == 1.0
    reason = component(score(mock, criteria, initial_state=state), "DB").checks[0].reason
    assert reason == "different: agent's tasks, user's tasks"


def test_telecom_compares_what_was_not_randomly_named(telecom):
    mode = call("set_network_mode_preference", {"mode": "3g_only"}, requestor="user")
    gold = {
        "name": "set_network_mode_preference",
        "requestor": "user",
        "arguments": {"mode": "3g_only"},
    }
    assert values(score(telecom, {"actions": [gold]}, *mode))["DB"] == 1.0
    found = component(score(telecom, {"actions": []}, *mode), "DB").checks[0].reason
    assert found == "different: user's device"


def test_a_strict_replay_that_differs_fails_what_it_was_for(mock):
    done = call("update_task_status", DONE)
    result = score(mock, {"actions": [COMPLETE], "env_assertions": []}, *done, lenient=False)
    broken = [c.name for c in result.components if isinstance(c.outcome, Failed)]
    assert broken == ["DB", "ENV_ASSERTION"]
    assert values(result)["ACTION"] == 1.0


def test_initial_data_that_do_not_fit_are_a_fault_of_the_harness(mock):
    state = {
        "initialization_actions": [{"env_type": "user", "func_name": "explode", "arguments": {}}]
    }
    outcome = component(score(mock, {"actions": []}, initial_state=state), "DB").outcome
    assert (outcome.status, outcome.fault) == ("failed", "harness")
    assert "explode" in outcome.reason


def test_a_broken_gold_path_fails_the_database_and_nothing_else(mock):
    state = {"message_history": [{"role": "narrator"}]}
    result = score(mock, {"actions": [COMPLETE]}, initial_state=state)
    outcome = component(result, "DB").outcome
    assert (outcome.status, outcome.fault) == ("failed", "harness")
    assert "message history of task 't'" in outcome.reason
    assert values(result)["ENV_ASSERTION"] == 1.0


# -- ENV_ASSERTION -------------------------------------------------------------------------------


def asserting(expected_status, *, task_id="task_1", **more):
    arguments = {"task_id": task_id, "expected_status": expected_status}
    return {
        "env_type": "assistant",
        "func_name": "assert_task_status",
        "arguments": arguments,
        **more,
    }


def test_assertions_run_where_the_conversation_led(mock):
    criteria = {"env_assertions": [asserting("completed"), asserting("pending")]}
    result = score(mock, criteria, *call("update_task_status", DONE))
    found = component(result, "ENV_ASSERTION")
    assert [check.met for check in found.checks] == [True, False]
    assert found.outcome == Scored(value=0.0, produced_by="rules")


def test_an_assertion_may_ask_for_the_opposite(mock):
    criteria = {"env_assertions": [asserting("completed", assert_value=False)]}
    assert values(score(mock, criteria))["ENV_ASSERTION"] == 1.0


@pytest.mark.parametrize(
    "assertion",
    [
        asserting("pending", task_id="task_9"),
        {"env_type": "user", "func_name": "check_notifications", "arguments": {}},
        {"env_type": "assistant", "func_name": "no_such_assertion", "arguments": {}},
    ],
    ids=["raises", "answers with a list", "is not there"],
)
def test_an_assertion_that_breaks_is_a_fault_of_the_harness_and_not_a_0(mock, assertion):
    criteria = {"env_assertions": [assertion], "reward_basis": ["ENV_ASSERTION"]}
    result = score(mock, criteria)
    found = component(result, "ENV_ASSERTION")
    assert (found.outcome.status, found.outcome.fault) == ("failed", "harness")
    assert found.checks[0].met is None
    assert values(result)["DB"] == 1.0
    assert isinstance(reward_of(result), Failed)


def test_an_assertion_about_what_the_agent_did_not_make_is_not_met(mock):
    criteria = {
        "actions": [
            {"name": "create_task", "arguments": {"user_id": "user_1", "title": "Call the bank"}}
        ],
        "env_assertions": [asserting("pending", task_id="task_2")],
        "reward_basis": ["ENV_ASSERTION"],
    }
    found = component(score(mock, criteria), "ENV_ASSERTION")
    assert found.outcome == Scored(value=0.0, produced_by="rules")
    assert [check.met for check in found.checks] == [False]
    assert "Task task_2 not found" in found.checks[0].reason


# -- ACTION --------------------------------------------------------------------------------------


def acts(mock, gold, *messages):
    return values(score(mock, {"actions": [{"name": "get_users", **gold}]}, *messages))["ACTION"]


GOLD = {"arguments": {"a": 1, "b": 2}}


@pytest.mark.parametrize(
    ("compare", "arguments", "value"),
    [
        (None, {"a": 1, "b": 2}, 1.0),
        (None, {"a": 1, "b": 3}, 0.0),
        (None, {"a": 1, "b": 2, "c": 3}, 0.0),
        # Absent: only what the call gives is compared.
        (None, {"a": 1}, 1.0),
        (None, {}, 1.0),
        (["a"], {"a": 1, "b": 9}, 1.0),
        (["a"], {"b": 2}, 0.0),
        (["a", "zzz"], {"a": 1}, 1.0),
        ([], {"a": 9}, 1.0),
        ([], {}, 1.0),
    ],
)
def test_a_gold_action_is_found_by_name_and_by_the_arguments_to_compare(
    mock, compare, arguments, value
):
    gold = {**GOLD, "compare_args": compare}
    assert acts(mock, gold, *call("get_users", arguments)) == value


def test_calls_of_the_user_and_failed_ones_count_as_actions(mock):
    assert acts(mock, GOLD, *call("get_users", GOLD["arguments"], requestor="user")) == 1.0
    assert acts(mock, GOLD, *call("get_users", GOLD["arguments"], error=True)) == 1.0
    assert acts(mock, {**GOLD, "requestor": "user"}, *call("get_users", GOLD["arguments"])) == 1.0


def test_without_a_call_of_that_name_an_action_is_missing(mock):
    assert acts(mock, {"arguments": {}, "compare_args": []}, *call("create_task")) == 0.0
    assert acts(mock, GOLD) == 0.0


def test_every_gold_action_must_be_found(mock):
    other = {"name": "create_task", "arguments": {}}
    criteria = {"actions": [{"name": "get_users", "arguments": {}}, other]}
    found = component(score(mock, criteria, *call("get_users")), "ACTION")
    assert [check.met for check in found.checks] == [True, False]
    assert found.outcome.value == 0.0


# -- COMMUNICATE ---------------------------------------------------------------------------------


def tells(mock, wanted, *messages):
    return values(score(mock, {"communicate_info": [wanted]}, *messages))["COMMUNICATE"]


@pytest.mark.parametrize(
    ("wanted", "said", "value"),
    [
        ("1628", "That makes $1,628.", 1.0),
        ("Total", "the TOTAL is 5", 1.0),
        # Commas go from the message, not from what is looked for.
        ("1,628", "That makes $1,628.", 0.0),
        ("12", "It is 1 2.", 0.0),
    ],
)
def test_information_is_looked_for_without_case_and_commas(mock, wanted, said, value):
    assert tells(mock, wanted, AssistantMessage(content=said)) == value


def test_information_counts_only_from_the_agent_within_one_message(mock):
    assert tells(mock, "12", UserMessage(content="12")) == 0.0
    assert tells(mock, "1 2", AssistantMessage(content="1"), AssistantMessage(content="2")) == 0.0
    assert tells(mock, "12", AssistantMessage(content=None), *HELLO) == 0.0


def test_text_beside_tool_calls_counts(mock):
    made = ToolCall(id="c", name="get_users")
    message = AssistantMessage(content="It is 12.", tool_calls=(made,))
    assert tells(mock, "12", message, ToolMessage(id="c", content="12")) == 1.0


def test_results_of_tools_do_not_count_as_said(mock):
    made = AssistantMessage(tool_calls=(ToolCall(id="c", name="get_users"),))
    assert tells(mock, "12", made, ToolMessage(id="c", content="12")) == 0.0


# -- NL_ASSERTION --------------------------------------------------------------------------------

JUDGED = {"nl_assertions": ["be kind", "be brief"], "reward_basis": ["NL_ASSERTION"]}


@pytest.mark.parametrize(("brief", "value"), [(True, 1.0), (False, 0.0)])
def test_statements_are_taken_from_the_verdicts_with_their_maker(mock, brief, value):
    verdicts = {"be kind": True, "be brief": brief}
    result = score(mock, JUDGED, nl_verdicts=verdicts, nl_produced_by="llm:m")
    found = component(result, "NL_ASSERTION")
    assert found.outcome == Scored(value=value, produced_by="llm:m")
    assert [check.met for check in found.checks] == [True, brief]


@pytest.mark.parametrize("verdicts", [None, {}, {"be kind": True}, {"be kind": False}])
def test_without_a_verdict_on_each_statement_they_are_unscored(mock, verdicts):
    result = score(mock, JUDGED, nl_verdicts=verdicts)
    outcome = component(result, "NL_ASSERTION").outcome
    assert isinstance(outcome, Unscored)
    assert "needs a judge" in outcome.reason
    assert isinstance(reward_of(result), Unscored)
    assert values(result)["DB"] == 1.0


def test_without_statements_no_judge_is_needed(mock):
    assert values(score(mock, {"reward_basis": ["NL_ASSERTION"]}))["NL_ASSERTION"] == 1.0


# -- solo ----------------------------------------------------------------------------------------


def test_alone_the_agents_calls_reach_the_users_toolkit(mock):
    gold = {
        "name": "dismiss_notification",
        "requestor": "user",
        "arguments": {"notification_id": "notif_1"},
    }
    messages = call("dismiss_notification", {"notification_id": "notif_1"})
    assert values(score(mock, {"actions": [gold]}, *messages, solo=True))["DB"] == 1.0
    assert values(score(mock, {"actions": [gold]}, *messages))["DB"] == 0.0


def test_the_gold_path_is_never_alone(mock):
    # As gold, the agent's call of a user's tool is an error and changes nothing.
    gold = {"name": "dismiss_notification", "arguments": {"notification_id": "notif_1"}}
    messages = (AssistantMessage(content="###STOP###"),)
    assert values(score(mock, {"actions": [gold]}, *messages, solo=True))["DB"] == 1.0
