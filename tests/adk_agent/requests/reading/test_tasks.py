"""Which tasks a sentence asks for."""

from __future__ import annotations

import pytest

from adk_agent.requests.refusal import Refusal
from tests.adk_agent.requests.sentences import Read


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("five airline tasks", [("airline", 5, False)]),
        ("the first five airline tasks", [("airline", 5, True)]),
        ("airline: first 5", [("airline", 5, True)]),
        ("the five first airline tasks", [("airline", 5, True)]),
        ("the first 20 tasks of airline", [("airline", 20, True)]),
        ("the first airline task, twice", [("airline", 1, True)]),
        ("the first task of the airline domain", [("airline", 1, True)]),
        ("the first 2 retail and 3 airline tasks", [("retail", 2, True), ("airline", 3, False)]),
        ("the first two tasks each of airline and mock", [("airline", 2, True), ("mock", 2, True)]),
        ("first of all five airline tasks", [("airline", 5, False)]),
        ("airline tasks. The first task is yours", [("airline", None, False)]),
        ("all airline tasks", [("airline", None, False)]),
    ],
)
def test_first_beside_a_number_means_the_first_tasks(
    read: Read, said: str, meant: list[tuple[str, int | None, bool]]
) -> None:
    got = read(f"Evaluate http://localhost:9010 on {said}")
    assert [(each.domain, each.num_tasks, each.first) for each in got.selections] == meant


def test_a_scenario_that_does_not_exist_is_refused(read):
    with pytest.raises(Refusal, match="no scenario 'bp99'"):
        read("Evaluate http://localhost:9010 on bp99")
