"""The world of banking_knowledge by the rules of the official engine 1.0.1."""

import json

import pytest

from tau_bridge.errors import HarnessError
from tau_bridge.messages import AssistantMessage, ToolCall
from tau_bridge.tau2.domains import load_domain
from tau_bridge.tau2.replay import new_world
from tau_bridge.tau2.scoring import score_components
from tau_bridge.tau2.tasks import parse_task
from tests.tau_bridge.tau2.asking import ask, refusal

READ = "get_all_user_accounts_by_user_id_3847"
OTHER_READ = "get_user_dispute_history_7291"
USER = "6680a37184"


@pytest.fixture(scope="module")
def bank(package_source):
    return load_domain(package_source, "banking_knowledge")


def unlocking(name):
    return [("unlock_discoverable_agent_tool", {"agent_tool_name": name})]


def calling(name, **arguments):
    given = {"agent_tool_name": name, "arguments": json.dumps(arguments)}
    return [*unlocking(name), ("call_discoverable_agent_tool", given)]


def task(*gold, **more):
    actions = [{"name": name, "arguments": arguments} for name, arguments in gold]
    return parse_task(
        {
            "id": "t",
            "user_scenario": {"instructions": "x"},
            "evaluation_criteria": {"actions": actions, "reward_basis": ["DB"]},
            **more,
        }
    )


def passes(bank, the_task, calls):
    """Whether a conversation of these calls passes, played and judged anew."""
    world, messages = new_world(bank, the_task), []
    for index, (name, arguments) in enumerate(calls):
        call = ToolCall(id=f"c{index}", name=name, arguments=arguments)
        messages += [AssistantMessage(tool_calls=(call,)), world.respond(call)]
    live = world.differences(_after_gold(bank, the_task)) == ()
    result = score_components(bank, the_task, messages, termination="user_stop")
    judged = result.components[0].outcome.value == 1.0
    assert live is judged
    return judged


def _after_gold(bank, the_task):
    world = new_world(bank, the_task)
    for action in the_task.evaluation_criteria.actions:
        ask(world, action.name, **action.arguments)
    return world


GOLD = calling(READ, user_id=USER)


def test_a_read_that_the_gold_path_makes_has_to_be_made(bank):
    assert passes(bank, task(*GOLD), GOLD)
    assert not passes(bank, task(*GOLD), [])
    assert not passes(bank, task(*GOLD), unlocking(READ))


def test_any_other_read_costs_nothing_live_and_when_judged(bank):
    extra = calling(OTHER_READ, user_id=USER)
    assert passes(bank, task(*GOLD), [*extra, *GOLD])
    assert passes(bank, task(), extra)


def test_a_write_that_is_not_gold_counts_and_needs_an_unlocked_tool(bank):
    write = calling("submit_interest_discrepancy_report_7294", account_id="none", user_id="none")
    assert passes(bank, task(), write[:1])
    assert passes(bank, task(), write[1:])  # refused, since it was not unlocked
    assert not passes(bank, task(), calling("freeze_debit_card_3892", card_id="none"))


def test_a_hidden_tool_can_be_called_by_its_own_name_and_is_then_not_logged(bank):
    world = new_world(bank, task(*GOLD))
    assert "Accounts for user" in ask(world, READ, user_id=USER).content
    assert world.differences(new_world(bank, task(*GOLD))) == ()
    assert READ not in json.dumps([*world.agent_tools, *world.user_tools])


def test_numbers_in_json_are_one_however_they_are_spelled(bank):
    account = next(
        key
        for key, row in new_world(bank, task()).sides.tools.db.credit_card_accounts.data.items()
        if row["status"] == "ACTIVE"
    )
    world = new_world(bank, task())
    owner = world.sides.tools.db.credit_card_accounts.data[account]["user_id"]
    name = "submit_credit_limit_increase_request_7392"
    gold = calling(
        name, credit_card_account_id=account, user_id=owner, requested_increase_amount=2500
    )
    other = calling(
        name, credit_card_account_id=account, user_id=owner, requested_increase_amount=2500.0
    )
    assert passes(bank, task(*gold), other)
    half = calling(
        name, credit_card_account_id=account, user_id=owner, requested_increase_amount=2500.5
    )
    for call, arguments in half:
        said = ask(world, call, **arguments).content
    assert said.endswith("Must be a whole number of dollars.")


def test_the_users_income_is_one_number_too(bank):
    worlds = [new_world(bank, task()) for _ in range(2)]
    for world, income in zip(worlds, (100000, 100000.0), strict=True):
        applied = ask(
            world,
            "apply_for_credit_card",
            "user",
            card_type="EcoCard",
            customer_name="Ada",
            annual_income=income,
        )
        assert applied.content.startswith("Credit card application submitted")
    assert worlds[0].differences(worlds[1]) == ()
    many = {"card_type": "EcoCard", "customer_name": "Ada", "annual_income": "much"}
    said = ask(worlds[0], "apply_for_credit_card", "user", **many).content
    assert said == "Error: Invalid annual_income. Must be a number."


def test_transactions_come_newest_first_and_equal_days_as_they_are_stored(bank):
    days = ["11/01/2025", "11/03/2025", "11/02/2025 10:00:00", "11/03/2025", "never"]
    rows = {f"x{i}": {"account_id": "01", "date": day} for i, day in enumerate(days)}
    data = {"bank_account_transaction_history": {"data": rows}}
    started = {"initialization_data": {"agent_data": data}}
    world = new_world(bank, task(initial_state=started))
    name = "get_bank_account_transactions_9173"
    unlocked, said = (ask(world, call, **a).content for call, a in calling(name, account_id="01"))
    assert "reverse chronological order" in unlocked
    places = [said.index(f"Record ID: x{i}") for i in range(5)]
    assert sorted(range(5), key=places.__getitem__) == [1, 3, 2, 0, 4]
    stored = world.sides.tools.db.bank_account_transaction_history.data
    assert [key for key in stored if key in rows] == list(rows)


def test_a_tool_is_given_to_the_user_who_then_changes_the_one_database(bank):
    world = new_world(bank, task())
    given = {"discoverable_tool_name": "get_referral_link"}
    arguments = json.dumps({"user_id": USER, "card_name": "EcoCard"})
    before = ask(world, "call_discoverable_user_tool", "user", arguments=arguments, **given)
    assert "has not been given to you by the agent" in before.content
    assert ask(world, "give_discoverable_user_tool", **given).content.startswith("Tool given")
    after = ask(world, "call_discoverable_user_tool", "user", arguments=arguments, **given)
    assert "https://rhobank.com/refer/" in after.content
    assert "Referral link" not in ask(world, "get_referrals_by_user", user_id="no").content
    assert "EcoCard" in ask(world, "get_referrals_by_user", user_id=USER).content


def test_wrong_arguments_are_told_with_the_official_names(bank):
    world = new_world(bank, task())
    assert refusal(world, "get_referrals_by_user") == (
        "Error: KnowledgeTools.get_referrals_by_user() missing 1 required positional argument: "
        "'user_id'"
    )
    assert "KnowledgeUserTools.submit_referral()" in refusal(world, "submit_referral", "user")
    said = [ask(world, name, **given).content for name, given in calling(READ, wrong=1)][-1]
    assert said.startswith("Error: Invalid arguments: KnowledgeTools.get_all_user_accounts")
    broken = {"agent_tool_name": READ, "arguments": "{"}
    said = ask(world, "call_discoverable_agent_tool", **broken).content
    assert said.startswith("Error: Invalid JSON in arguments:")


@pytest.mark.parametrize(
    ("tools", "offered"),
    [
        (None, 6),
        ([], 0),
        (["submit_referral", "apply_for_credit_card"], 2),
    ],
)
def test_the_user_is_offered_the_tools_of_the_task(bank, tools, offered):
    assert len(new_world(bank, task(user_tools=tools)).user_tools) == offered


def test_a_task_with_a_tool_for_the_user_that_there_is_not_is_no_task(bank):
    with pytest.raises(HarnessError, match="gives its user the tools fly, which banking_knowledge"):
        new_world(bank, task(user_tools=["fly"]))


@pytest.mark.parametrize(
    ("retrieval", "offered"),
    [
        ("bm25_grep", ["KB_search", "grep"]),
        ("bm25", ["KB_search"]),
        ("grep_only", ["grep"]),
        ("embeddings_grep", ["KB_search", "grep"]),
        ("golden_retrieval", []),
        ("full_kb", []),
        ("no_knowledge", []),
    ],
)
def test_a_retrieval_offers_its_tools_and_no_other_can_be_called(
    package_source, retrieval, offered
):
    world = new_world(load_domain(package_source, "banking_knowledge", retrieval), task())
    names = [tool["function"]["name"] for tool in world.agent_tools]
    assert names[: len(offered)] == offered
    assert len(names) == 14 + len(offered)
    for missing in {"KB_search", "grep"} - set(offered):
        assert refusal(world, missing, x="y") == f"Error: Tool '{missing}' not found."


def test_documents_are_searched_by_words_and_by_patterns(bank):
    world = new_world(bank, task())
    assert "close_credit_card_account_7834" in ask(world, "grep", pattern="close_credit").content
    found = ask(world, "KB_search", query="closing a credit card").content
    assert found.count("\n   Score: ") == 10
    assert refusal(world, "grep").startswith("Error: ")


async def test_a_search_leaves_the_event_loop_and_answers_the_same(bank):
    world = new_world(bank, task())
    call = ToolCall(id="c", name="grep", arguments={"pattern": "wire transfer"})
    assert await world.respond_off_loop(call) == world.respond(call)
    other = ToolCall(id="c", name="get_current_time", arguments={})
    assert "2025-11-14" in (await world.respond_off_loop(other)).content


def test_the_same_task_can_be_played_many_times(bank, package_source):
    the_task = package_source.task("banking_knowledge", "task_026")
    worlds = [_after_gold(bank, the_task) for _ in range(3)]
    assert worlds[0].differences(worlds[2]) == ()
    assert worlds[0].differences(new_world(bank, the_task)) != ()
