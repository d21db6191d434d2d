"""Which agents a sentence names, and how it is spoken of their addresses."""

from __future__ import annotations

import pytest

from adk_agent.requests.reader import Refusal
from tests.adk_agent.requests.sentences import Read, answer


def test_two_spellings_of_one_address_are_one_agent_with_a_warning(read: Read) -> None:
    got = read("Evaluate http://localhost:9010 and http://127.0.0.1:9010 on mock")
    assert [(each.role, each.address) for each in got.participants] == [
        ("agent", "http://localhost:9010")
    ]
    assert got.warnings == (
        "http://127.0.0.1:9010 is the same agent as http://localhost:9010: it is evaluated once",
    )
    assert answer(read, "Evaluate localhost:9010 on mock, but do not contact 127.0.0.1:9010") == (
        "contradiction"
    )


def test_a_password_in_an_address_is_not_repeated(read: Read) -> None:
    with pytest.raises(Refusal) as caught:
        read("Evaluate http://me:hunter2@localhost:9010 on airline")
    assert "hunter2" not in str(caught.value)
