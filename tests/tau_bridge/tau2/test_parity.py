"""Our rewards and states beside the official engine's."""

import gzip
import json
import os
from pathlib import Path

import pytest

from evals.reward import reward_of
from tau_bridge.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from tau_bridge.tau2.domains import load_domain
from tau_bridge.tau2.replay import message_history, new_world
from tau_bridge.tau2.results import read_results
from tau_bridge.tau2.scoring import score_components

FOLDER = os.environ.get("GREENROOM_PARITY_DIR")
FILES = sorted(Path(FOLDER).glob("*.json*")) if FOLDER else []
FLAGS = {
    "ENV_ASSERTION": ("env_assertions", "met"),
    "ACTION": ("action_checks", "action_match"),
    "COMMUNICATE": ("communicate_checks", "met"),
}


@pytest.fixture(scope="module")
def domains():
    """Domains by source and name, loaded once."""
    return {}


def _domain(domains, source, name):
    key = (source.name, name)
    if key not in domains:
        domains[key] = load_domain(source, name)
    return domains[key]


def _component_flags(result, reward_info):
    """Pairs of ours and the recorded verdicts, for the components that were recorded."""
    by_name = {component.name: component for component in result.components}
    if reward_info.get("db_check") is not None:
        yield by_name["DB"].outcome.value, reward_info["db_check"]["db_reward"]
    for name, (key, flag) in FLAGS.items():
        if reward_info.get(key):
            ours = [check.met for check in by_name[name].checks]
            yield ours, [check[flag] for check in reward_info[key]]


@pytest.mark.parity
@pytest.mark.skipif(not FILES, reason="GREENROOM_PARITY_DIR is not set, or holds no results")
@pytest.mark.parametrize("source", ["package_source", "official_source"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_recorded_conversations_get_their_recorded_rewards(request, domains, path, source):
    recorded = read_results(path)
    domain = _domain(domains, request.getfixturevalue(source), recorded.domain)
    different = []
    for simulation in recorded.simulations:
        if simulation.reward is None:
            continue
        result = score_components(
            domain,
            recorded.tasks[simulation.task_id],
            simulation.messages,
            termination=simulation.termination_reason,
            solo=simulation.solo,
            nl_verdicts=simulation.nl_verdicts,
        )
        if getattr(reward_of(result), "value", None) != simulation.reward:
            different.append((simulation.id, simulation.reward, result))
    assert different == []


@pytest.mark.parity
@pytest.mark.skipif(not FILES, reason="GREENROOM_PARITY_DIR is not set, or holds no results")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.split(".")[0])
def test_recorded_components_are_ours(package_source, domains, path):
    recorded = read_results(path)
    domain = _domain(domains, package_source, recorded.domain)
    infos = [row["reward_info"] or {} for row in json.loads(_unpacked(path))["simulations"]]
    for simulation, info in zip(recorded.simulations, infos, strict=True):
        result = score_components(
            domain,
            recorded.tasks[simulation.task_id],
            simulation.messages,
            termination=simulation.termination_reason,
            nl_verdicts=simulation.nl_verdicts,
        )
        for ours, theirs in _component_flags(result, info):
            assert ours == theirs, simulation.id


def _unpacked(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def gold_conversation(world, task):
    """What an agent and a user say who follow the gold path exactly."""
    messages = list(message_history(task))
    criteria = task.evaluation_criteria
    for index, action in enumerate(criteria.actions or ()):
        call = ToolCall(
            id=f"gold_{index}",
            name=action.name,
            arguments=action.arguments,
            requestor=action.requestor,
        )
        speaker = AssistantMessage if action.requestor == "assistant" else UserMessage
        messages += [speaker(tool_calls=(call,)), world.respond(call)]
    return [*messages, AssistantMessage(content=" ".join(criteria.communicate_info or ("Done.",)))]


def passes(domain, task, messages):
    """Whether all of the basis holds, statements for a judge set aside."""
    result = score_components(domain, task, messages, termination="user_stop")
    outcomes = [
        component.outcome
        for component in result.components
        if component.name in result.basis and component.name != "NL_ASSERTION"
    ]
    return all(getattr(outcome, "value", None) == 1.0 for outcome in outcomes)


@pytest.mark.official_data
@pytest.mark.parametrize(
    ("name", "gold", "talk"),
    [
        ("airline", 50, 23),
        ("banking_knowledge", 97, 0),
        ("retail", 114, 11),
        ("telecom", 114, 0),
        ("mock", 8, 1),
    ],
)
def test_gold_paths_and_mere_talk_pass_as_often_as_officially(
    official_source, domains, name, gold, talk
):
    domain = _domain(domains, official_source, name)
    counts = [0, 0]
    for task_id in official_source.task_ids(name):
        task = official_source.task(name, task_id)
        conversation = gold_conversation(new_world(domain, task), task)
        hello = [*message_history(task), AssistantMessage(content="I cannot help you.")]
        counts[0] += passes(domain, task, conversation)
        counts[1] += passes(domain, task, hello)
    assert counts == [gold, talk]


@pytest.mark.official_data
@pytest.mark.parametrize("name", ["airline", "banking_knowledge", "retail", "telecom", "mock"])
def test_what_a_world_answers_is_what_a_strict_replay_repeats(official_source, domains, name):
    domain = _domain(domains, official_source, name)
    for task_id in official_source.task_ids(name):
        task = official_source.task(name, task_id)
        messages = gold_conversation(new_world(domain, task), task)
        result = score_components(domain, task, messages, termination="user_stop", lenient=False)
        broken = [c for c in result.components if c.name == "DB" and c.outcome.status == "failed"]
        assert broken == [], task_id


@pytest.mark.slow
@pytest.mark.official_data
def test_every_full_telecom_task_can_be_initialised_and_solved(official_source, domains):
    domain = _domain(domains, official_source, "telecom")
    unsolved = [
        task.id
        for task in official_source.tasks("telecom").values()
        if not passes(domain, task, gold_conversation(new_world(domain, task), task))
    ]
    assert unsolved == []


@pytest.mark.official_data
def test_fifteen_retail_tasks_have_gold_calls_that_fail(official_source, domains):
    domain = _domain(domains, official_source, "retail")
    failing = 0
    for task_id in official_source.task_ids("retail"):
        task = official_source.task("retail", task_id)
        messages = gold_conversation(new_world(domain, task), task)
        failing += any(isinstance(m, ToolMessage) and m.error for m in messages)
    assert failing == 15
