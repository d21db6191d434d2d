"""Recorded conversations scored again: what is compared, what is not, and the exit code."""

import argparse
import json

import pytest

from adk_agent.cli import regrade as command
from adk_agent.cli.edge import run_command


def simulation(name, reward=1.0, **changes):
    return {
        "id": name,
        "task_id": "quiet",
        "trial": 0,
        "termination_reason": "user_stop",
        "messages": [
            {"role": "assistant", "content": "Hi! How can I help you today?"},
            {"role": "user", "content": "No need. ###STOP###"},
        ],
        "reward_info": {"reward": reward},
        **changes,
    }


@pytest.fixture
def regraded(tmp_path, capsys):
    """Runs the command on simulations; returns its exit code, output and errors."""

    def run(*simulations, as_json=False):
        instructions = {"instructions": "Want nothing."}
        results = {
            "info": {"environment_info": {"domain_name": "mock"}},
            "tasks": [
                {
                    "id": "quiet",
                    "user_scenario": instructions,
                    "evaluation_criteria": {"reward_basis": ["DB"]},
                },
                {
                    "id": "judged",
                    "user_scenario": instructions,
                    "evaluation_criteria": {
                        "nl_assertions": ["The agent is kind."],
                        "reward_basis": ["NL_ASSERTION"],
                    },
                },
            ],
            "simulations": list(simulations),
        }
        path = tmp_path / "results.json"
        path.write_text(json.dumps(results))
        code = run_command(command.execute, argparse.Namespace(results=str(path), json=as_json))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_equal_rewards_are_exit_0(regraded):
    code, out, err = regraded(simulation("a"), simulation("b"))
    assert (code, err) == (0, "")
    assert out == "2 of 2 rewards equal; 0 simulations could not be compared\n"


def test_a_reward_that_differs_is_exit_1_and_named(regraded):
    code, out, _ = regraded(simulation("a"), simulation("b", 0.0))
    assert code == 1
    assert "b task quiet: scored, reward 1.0, recorded 0.0\n1 of 2 rewards equal" in out


@pytest.mark.parametrize("reward", [float("nan"), "nan", float("inf")])
def test_a_recorded_reward_that_is_no_number_is_exit_2_and_never_equal(regraded, reward):
    code, out, err = regraded(simulation("a"), simulation("b", reward))
    assert (code, out) == (2, "")
    assert "simulation 'b'" in err
    assert "not a finite number" in err


def test_two_simulations_of_the_same_id_are_exit_2(regraded):
    code, out, err = regraded(simulation("a"), simulation("a", 0.0))
    assert (code, out) == (2, "")
    assert "['a']" in err


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("simulations", [[], [simulation("a", reward_info=None)]])
def test_nothing_to_compare_is_exit_3_with_a_message(regraded, simulations, as_json):
    code, out, err = regraded(*simulations, as_json=as_json)
    assert code == 3
    assert "no reward of" in err
    assert "could be compared" in err
    if as_json:
        assert json.loads(out)["compared"] == 0


SKIPPED = (
    simulation("unscored", reward_info=None),
    simulation("also", reward_info={"reward": None}),
    simulation("broke", 0.0, info={"eval_error": "ValueError: no"}),
    simulation("unjudged", task_id="judged"),
)


def test_a_simulation_that_is_not_compared_says_why(regraded):
    code, out, _ = regraded(simulation("a"), *SKIPPED, as_json=True)
    assert code == 0
    result = json.loads(out)
    assert (result["compared"], result["equal"], result["different"]) == (1, 1, [])
    reasons = {row["id"]: row["reason"] for row in result["simulations"]}
    assert "needs a judge" in reasons.pop("unjudged")
    assert reasons == {
        "a": None,
        "unscored": "no reward was recorded",
        "also": "no reward was recorded",
        "broke": "the recorded evaluation broke: ValueError: no",
    }


def test_simulations_that_are_not_compared_are_counted_by_reason(regraded):
    _, out, _ = regraded(simulation("a"), *SKIPPED)
    lines = out.splitlines()
    at = lines.index("1 of 1 rewards equal; 4 simulations could not be compared")
    assert lines[at + 1] == "  2: no reward was recorded"
    assert "  1: the recorded evaluation broke: ValueError: no" in lines[at + 2 :]
    assert len(lines[at + 1 :]) == 3
