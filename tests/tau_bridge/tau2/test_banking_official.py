"""banking_knowledge over the official data, beside what the official engine makes of it."""

import hashlib
import json
from pathlib import Path

import pytest

from tau_bridge.messages import AssistantMessage, ToolCall
from tau_bridge.tau2.domains import load_domain
from tau_bridge.tau2.gold_replay import call_of
from tau_bridge.tau2.replay import new_world
from tests.tau_bridge.tau2.test_parity import gold_conversation, passes

pytestmark = pytest.mark.official_data
DIGESTS = json.loads(Path(__file__).with_name("banking_digests.json").read_text())
"""By task the first eight digits of the SHA-256 of the database: initially, and after gold."""
CALLING = "call_discoverable_agent_tool"


@pytest.fixture(scope="module")
def bank(official_source):
    return load_domain(official_source, "banking_knowledge")


@pytest.fixture(scope="module")
def tasks(official_source):
    ids = official_source.task_ids("banking_knowledge")
    return [official_source.task("banking_knowledge", task_id) for task_id in ids]


def digest(world):
    content = {name: table.content() for name, table in world.sides.tools.db.tables.items()}
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def test_every_database_is_the_official_one_before_and_after_the_gold_actions(bank, tasks):
    found = {}
    for task in tasks:
        worlds = [new_world(bank, task) for _ in range(2)]
        for action in task.evaluation_criteria.actions:
            worlds[1].respond(call_of(action))
        found[task.id] = " ".join(map(digest, worlds))
    assert found == DIGESTS


def extra_read(task):
    """Calls that only read, of a tool that the gold path does not call."""
    gold = {a.arguments.get("agent_tool_name") for a in task.evaluation_criteria.actions}
    reads = ("get_user_dispute_history_7291", "get_debit_dispute_status_7483")
    name = next(each for each in reads if each not in gold)
    return [
        ("unlock_discoverable_agent_tool", {"agent_tool_name": name}),
        (CALLING, {"agent_tool_name": name, "arguments": '{"user_id": "123"}'}),
    ]


def test_one_more_read_costs_no_task_its_reward(bank, tasks):
    kept = 0
    for task in tasks:
        world, read = new_world(bank, task), []
        for number, (name, arguments) in enumerate(extra_read(task)):
            call = ToolCall(id=f"read_{number}", name=name, arguments=arguments)
            read += [AssistantMessage(tool_calls=(call,)), world.respond(call)]
        kept += passes(bank, task, [*read, *gold_conversation(world, task)])
    assert kept == len(tasks) == 97


def test_no_task_passes_without_the_reads_of_its_gold_path(bank, tasks):
    asked = passed = 0
    for task in tasks:
        criteria = task.evaluation_criteria
        left = [a for a in criteria.actions if not is_read(bank, a)]
        if len(left) == len(criteria.actions):
            continue
        asked += 1
        short = task.model_copy(
            update={"evaluation_criteria": criteria.model_copy(update={"actions": left})}
        )
        # Played by a shortened gold path, and judged by the task's own.
        passed += passes(bank, task, gold_conversation(new_world(bank, task), short))
    assert (passed, asked) == (0, 54)


def is_read(bank, action):
    name = action.arguments.get("agent_tool_name")
    return action.name == CALLING and not bank.tool_names.changes_state(name)
