"""What a score means, and what to run next, in a line each."""

from pathlib import Path

import pytest

from adk_agent.cli.display import next_commands
from adk_agent.results.meaning import meaning_lines
from adk_agent.results.summary import FLOOR
from tests.adk_agent.results.mixed_runs import AGENT, report_of


@pytest.mark.parametrize(
    ("ends", "floor", "told"),
    [
        (
            ["+", "-"],
            {"0": 1.0, "1": 0.0},
            "not better than an agent that does nothing (pass^1 0.500",
        ),
        (
            ["+", "-"],
            {"0": 0.0, "1": 0.0},
            "perhaps better than an agent that does nothing (pass^1",
        ),
        (
            ["+"] * 9,
            dict.fromkeys(map(str, range(9)), 0.0),
            "better than an agent that does nothing",
        ),
        (["-", "i"], {"0": 1.0, "1": 0.0}, "not better than an agent that does nothing"),
        (["+", "i"], {"0": 1.0, "1": 0.0}, "perhaps not better than an agent that does nothing"),
        (["+", "i"], {"0": 1.0, "1": 0.0}, "1 failed trial leaves its score open, 0.500 to 1.000"),
        (["+", "ii"], {"0": 1.0}, "2 failed trials leave its score open, 0.500 to 1.000"),
        (
            ["+", "e"],
            {"0": 1.0, "1": 0.0},
            "1 of 2 trials ended by an error of the agent: it broke",
        ),
        (["i", "i"], {"0": 1.0, "1": 0.0}, "not evaluated: it broke"),
        (["+"], None, "pass^1 1.000; no floor is known"),
        (
            ["+", "-", "-"],
            {"1": 0.0, "2": 0.0},
            "pass^1 0.333; on the 2 tasks with a floor, not better than an agent that does nothing "
            "(pass^1 0.000, floor 0.000)",
        ),
        (
            ["i", "+"],
            {"1": 0.0},
            "pass^1 0.500; on the 1 task with a floor, perhaps better than an agent that does nothing "
            "(pass^1 1.000, floor 0.000), but 1 task is too few to say",
        ),
        (
            ["+", "-", "i"],
            {"1": 0.0, "2": 0.0},
            "on the 2 tasks with a floor, perhaps not better than an agent that does nothing "
            "(pass^1 0.000, floor 0.000)",
        ),
    ],
)
def test_a_line_for_each_agent_says_what_its_score_means(ends, floor, told):
    (line,) = meaning_lines(report_of(ends, floor=floor))
    assert line.startswith(f"{AGENT}: ")
    assert told in line


@pytest.mark.parametrize(
    ("floor", "told"),
    [
        (None, "pass^1 0.500; no floor is known"),
        ({"0": 1.0, "1": 0.0}, "this agent does nothing, so its pass^1, 0.500, is the floor"),
        (
            {"1": 0.0},
            "pass^1 0.500; on the 1 task with a floor, this agent does nothing, so its pass^1, 0.000, "
            "is the floor",
        ),
    ],
)
def test_the_agent_that_does_nothing_is_the_floor_where_tasks_have_one(floor, told):
    (line,) = meaning_lines(report_of(["+", "-"], floor=floor, agent=FLOOR))
    assert line == f"{FLOOR}: {told}"


def test_what_to_run_next_is_said_with_the_folder_of_runs_where_it_is_another():
    assert next_commands(report_of(["+"]), Path("results/run-2")) == "next: greenroom view run-2"
    assert next_commands(report_of(["i"]), Path("my runs/run-2")) == (
        "next: greenroom view run-2 --results-dir 'my runs'\n"
        "      greenroom resume run-2 --results-dir 'my runs'  # plays its failed trials again"
    )
