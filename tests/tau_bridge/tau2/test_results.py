"""Reading results files in the official format."""

import copy
import gzip
import json
import math

import pytest

from tau_bridge.errors import DataError
from tau_bridge.tau2.results import read_results

RESULTS = {
    "info": {"environment_info": {"domain_name": "mock", "policy": "x"}, "seed": 300},
    "tasks": [
        {
            "id": "t",
            "user_scenario": {"instructions": "Do it."},
            "evaluation_criteria": {"nl_assertions": ["be kind", "be brief"]},
        }
    ],
    "simulations": [
        {
            "id": "s1",
            "task_id": "t",
            "trial": 2,
            "termination_reason": "user_stop",
            "messages": [
                {"role": "assistant", "content": "Hi!", "turn_idx": 0, "cost": 0.1},
                {
                    "role": "tool",
                    "tool_messages": [{"role": "tool", "id": "1"}, {"role": "tool", "id": "2"}],
                },
            ],
            "reward_info": {
                "reward": 1.0,
                "nl_assertions": [
                    {"nl_assertion": "be kind", "met": True, "justification": "x"},
                    {"nl_assertion": "be brief", "met": False, "justification": "y"},
                ],
            },
        }
    ],
}


@pytest.fixture
def results():
    return copy.deepcopy(RESULTS)


@pytest.fixture
def read(tmp_path):
    def write_and_read(content):
        path = tmp_path / "results.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return read_results(path)

    return write_and_read


def test_a_file_gives_its_domain_its_tasks_and_its_simulations(read, results):
    recorded = read(results)
    [simulation] = recorded.simulations
    assert (recorded.domain, list(recorded.tasks)) == ("mock", ["t"])
    assert (simulation.id, simulation.task_id, simulation.trial) == ("s1", "t", 2)
    assert (simulation.termination_reason, simulation.reward) == ("user_stop", 1.0)
    assert [message.role for message in simulation.messages] == ["assistant", "tool", "tool"]
    assert simulation.nl_verdicts == {"be kind": True, "be brief": False}
    assert (simulation.eval_error, simulation.solo) == (None, False)


def test_packed_files_are_read_whatever_their_name(tmp_path, results):
    path = tmp_path / "results"
    path.write_bytes(gzip.compress(json.dumps(results).encode()))
    assert len(read_results(path).simulations) == 1


def test_a_simulation_that_was_not_scored_has_no_reward(read, results):
    results["simulations"][0]["reward_info"] = None
    [simulation] = read(results).simulations
    assert (simulation.reward, simulation.nl_verdicts) == (None, None)


@pytest.mark.parametrize("place", ["simulation", "reward_info"])
def test_where_the_official_evaluator_raised_there_is_no_reward(read, results, place):
    simulation = results["simulations"][0]
    holder = simulation if place == "simulation" else simulation["reward_info"]
    holder["info"] = {"eval_error": "ValueError: no"}
    [recorded] = read(results).simulations
    assert (recorded.reward, recorded.eval_error) == (None, "ValueError: no")


def test_a_statement_that_the_judge_reworded_keeps_its_verdict(read, results):
    verdicts = results["simulations"][0]["reward_info"]["nl_assertions"]
    verdicts[1]["nl_assertion"] = "The agent should be brief."
    found = read(results).simulations[0].nl_verdicts
    assert (found["be kind"], found["be brief"]) == (True, False)


def test_with_fewer_verdicts_than_statements_none_is_guessed(read, results):
    results["simulations"][0]["reward_info"]["nl_assertions"] = [
        {"nl_assertion": "The agent should be brief.", "met": True}
    ]
    assert "be brief" not in read(results).simulations[0].nl_verdicts


def test_a_recorded_user_who_is_none_means_solo(read, results):
    results["info"]["user_info"] = {"implementation": "dummy_user"}
    assert read(results).simulations[0].solo


def test_a_file_that_is_not_there_is_a_data_error(tmp_path):
    with pytest.raises(DataError, match=r"none\.json' cannot be read"):
        read_results(tmp_path / "none.json")
    with pytest.raises(DataError, match="cannot be read"):
        read_results(tmp_path)


@pytest.mark.parametrize("damage", [slice(0, -20), slice(0, 12)])
def test_a_damaged_packed_file_is_a_data_error(tmp_path, results, damage):
    path = tmp_path / "results.json.gz"
    path.write_bytes(gzip.compress(json.dumps(results).encode())[damage])
    with pytest.raises(DataError, match="cannot be read"):
        read_results(path)
    path.write_bytes(gzip.compress(b"x")[:10] + b"\xff" * 20)
    with pytest.raises(DataError, match="cannot be read"):
        read_results(path)


@pytest.mark.parametrize("content", ["", "{", '{"info": ', "\x1f\x8b broken", "[" * 100_000])
def test_a_file_that_is_not_json_says_so(read, content):
    with pytest.raises(DataError, match=r"results\.json' is not JSON"):
        read(content)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (["info"], "info: Field required"),
        (["info", "environment_info"], r"info\.environment_info: Field required"),
        (["tasks"], "tasks: Field required"),
        (["simulations"], "simulations: Field required"),
        (["simulations", 0, "messages"], r"simulations\.0\.messages: Field required"),
        (["simulations", 0, "task_id"], r"simulations\.0\.task_id: Field required"),
    ],
)
def test_a_missing_key_is_named(read, results, path, text):
    holder = results
    for step in path[:-1]:
        holder = holder[step]
    del holder[path[-1]]
    with pytest.raises(DataError, match=rf"official τ² results format: {text}"):
        read(results)


def test_of_several_missing_keys_the_first_is_named(read, results):
    del results["simulations"][0]["messages"]
    del results["simulations"][0]["task_id"]
    with pytest.raises(DataError, match=r"simulations\.0\.task_id: Field required$"):
        read(results)


@pytest.mark.parametrize("content", [[], 1, "text", None])
def test_json_of_another_kind_is_not_in_the_format(read, content):
    with pytest.raises(DataError, match="not in the official τ² results format"):
        read(json.dumps(content))


def test_a_message_that_is_none_names_its_simulation(read, results):
    results["simulations"][0]["messages"] = [{"role": "narrator"}]
    with pytest.raises(DataError, match="simulation 's1'"):
        read(results)


@pytest.mark.parametrize("reward", [math.nan, "nan", math.inf, "-inf"])
def test_a_recorded_reward_that_is_no_number_names_its_simulation(read, results, reward):
    results["simulations"][0]["reward_info"]["reward"] = reward
    with pytest.raises(DataError, match=r"simulation 's1': the recorded reward is .* finite"):
        read(results)


def test_two_simulations_of_the_same_id_are_refused(read, results):
    results["simulations"] *= 2
    with pytest.raises(DataError, match=r"several simulations of the same id: \['s1'\]"):
        read(results)


def test_a_simulation_of_an_unknown_task_is_refused(read, results):
    results["simulations"][0]["task_id"] = "other"
    with pytest.raises(DataError, match=r"does not hold: \['other'\]"):
        read(results)
