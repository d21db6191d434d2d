"""Clauses that ask for nothing."""

from __future__ import annotations

from tests.adk_agent.requests.sentences import Read


def test_what_is_told_about_the_past_is_not_played(read: Read) -> None:
    got = read(
        "Last week it passed five retail tasks. Evaluate http://localhost:9010 on two airline tasks."
    )
    assert [(each.domain, each.num_tasks) for each in got.selections] == [("airline", 2)]
