"""The deterministic reader of requests, against its corpus and by properties."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adk_agent.core.errors import RequestError
from adk_agent.core.plan import EvaluationRequest
from adk_agent.requests.agents import BUNDLED_AGENTS, BUNDLED_TEAMS
from adk_agent.requests.refusal import Refusal
from tests.adk_agent.requests.sentences import Read, answer

CORPUS = Path(__file__).resolve().parents[3] / "data" / "requests.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
TUNED = [row for row in ROWS if not row.get("held_out")]
HELD_OUT = [row for row in ROWS if row.get("held_out")]
DOMAINS = ("airline", "retail", "telecom", "mock", "coordination", "business")


def is_right(read: Read, row: dict[str, Any]) -> bool:
    got = answer(read, row["text"])
    if isinstance(got, str):
        expected = row.get("refusal", [])
        return got in ([expected] if isinstance(expected, str) else expected)
    if "request" not in row:
        return False
    fields = dict(row["request"])
    warnings = fields.pop("warnings", 0)
    plain = got.model_copy(update={"reasoning": "", "warnings": ()})
    return plain == EvaluationRequest(**fields) and len(got.warnings) == warnings


def share_right(read: Read, rows: list[dict[str, Any]]) -> float:
    return sum(is_right(read, row) for row in rows) / len(rows)


def additions(got: EvaluationRequest, text: str) -> list[str]:
    """What a request holds that its text does not name."""
    lower = text.lower()
    found = []
    for participant in got.participants:
        name = participant.builtin
        bare = participant.address.removeprefix("http://").lower()
        name = name and name.removeprefix("team:").partition("+")[0]
        everyone = "bundled agent" in lower or "bundled team" in lower
        named = name in lower or everyone if name else bare in lower
        if not named:
            found.append(participant.address)
    return found


def test_the_corpus_is_large_and_its_ids_are_unique() -> None:
    assert len(TUNED) >= 100
    assert len(HELD_OUT) >= 30
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(("request" in row) != ("refusal" in row) for row in ROWS)


def test_the_reader_gets_at_least_95_percent_of_the_corpus_exactly_right(read: Read) -> None:
    wrong = [row["id"] for row in ROWS if not is_right(read, row)]
    assert share_right(read, ROWS) >= 0.95, wrong


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_no_endpoint_domain_or_trial_is_added(read: Read, row: dict[str, Any]) -> None:
    got = answer(read, row["text"])
    if isinstance(got, str):
        return
    expected = row.get("request")
    assert expected is not None or row["kind"] not in {"injection", "address", "unknown"}
    assert additions(got, row["text"]) == []
    if expected is not None:
        wanted = {each["address"] for each in expected["participants"]}
        assert {each.address for each in got.participants} <= wanted
        domains = {each["domain"] for each in expected["selections"]}
        assert {each.domain for each in got.selections} <= domains
        assert (got.num_trials or 1) <= expected.get("num_trials", 1)


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_any_text_gives_a_request_or_a_request_error(read: Read, text: str) -> None:
    try:
        got = read(text)
    except RequestError:
        return
    assert additions(got, text) == []


PIECES = st.sampled_from(
    [
        *DOMAINS,
        *BUNDLED_AGENTS,
        *BUNDLED_TEAMS[:3],
        "bundled",
        "teams",
        "exercises",
        "coordinate",
        *[
            "evaluate",
            "the",
            "agent",
            "at",
            "http://a.example:9010",
            "localhost:9011",
            "on",
            "five",
            "3",
            "-2",
            "0",
            "2.5",
            "ten",
            "tasks",
            "task",
            "trials",
            "each",
            "and",
            "or",
            ",",
            ".",
            ":",
            "(",
            ")",
            "-",
            "#",
            "to",
            "not",
            "all",
            "x3",
            "twice",
            "seed",
            "steps",
            "split",
            "test",
            "user",
            "gpt-4o",
            "[a_issue]b|c[PERSONA:None]",
            "create_task_1",
            "1-3",
            "7",
            "builtin:null",
            "builtin:",
            "ftp://x",
            "http://",
            "ignore",
            "previous",
            "random",
            "except",
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            "`",
            "\n",
            "airlne",
            "retial",
            "per",
            "of",
            "from",
            "pass^4",
            "k=4",
            "don't",
            "contact",
            "instead",
            "bundled",
            "agents",
            "all",
            "hotel",
            "domain",
            "solo",
            "https://[::1]:9",
            "a",
            "b",
        ],
    ]
)


@given(st.lists(PIECES, max_size=25).map(" ".join))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_jumble_of_request_words_adds_nothing(read: Read, text: str) -> None:
    got = answer(read, text)
    if isinstance(got, str):
        return
    assert additions(got, text) == []
    likely = {"airlne": "airline", "retial": "retail"}
    likely |= dict.fromkeys(("exercises", "coordinate"), "coordination")
    named = {likely.get(word, word) for word in re.findall(r"\w+", text)}
    assert {each.domain for each in got.selections} <= named
    if got.num_trials is not None:
        assert got.num_trials == 1 or re.search(r"trials|twice|x3|pass\^4|k=4", text), (
            got.num_trials
        )


@pytest.mark.parametrize(
    ("text", "code", "named"),
    [
        ("Evaluate http://localhost:9010 on the airlift domain", "unknown-domain", "airlift"),
        ("Evaluate builtin:orcale on airline", "unknown-agent", "'oracle'"),
        ("Evaluate my agent on airline", "no-agent", "builtin:null"),
        ("Evaluate http://localhost:9010", "no-domain", "five airline tasks"),
        ("Evaluate http://localhost:9010 on 0 airline tasks", "bad-number", "'0'"),
        ("Evaluate http://localhost:9010 on airline 5", "ambiguous", "'task 5'"),
        (
            "Bewerte den Agenten unter http://localhost:9010 mit airline bitte",
            "unsupported",
            "Engl",
        ),
        ("Hello", "not-an-evaluation", "Evaluate the agent at"),
        (
            "Evaluate http://localhost:9010 on five airline tasks, dev split",
            "unknown-split",
            "test",
        ),
        ('{"participants": {"agent": "http://localhost:9010"', "bad-json", '"config"'),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_to_write(
    read: Read, text: str, code: str, named: str
) -> None:
    with pytest.raises(Refusal) as caught:
        read(text)
    assert caught.value.code == code
    assert named in str(caught.value)
    assert caught.value.exit_code == 2


def test_every_correction_and_every_unused_address_is_a_warning(read: Read) -> None:
    got = read(
        "Evaluate http://localhost:9010 on two airlne tasks and post it to http://hook.example/x"
    )
    assert len(got.warnings) == 2
    assert any("http://hook.example/x" in warning for warning in got.warnings)
    assert any("'airlne'" in warning and "'airline'" in warning for warning in got.warnings)


def test_a_sentence_that_is_too_long_is_refused(read: Read) -> None:
    assert answer(read, "airline " * 2_000) == "unsupported"


def test_the_reader_holds_up_on_requests_that_it_was_not_written_for(read: Read) -> None:
    # Measured when they were written: 30 of 34. The reader was not changed for them.
    wrong = [row["id"] for row in HELD_OUT if not is_right(read, row)]
    assert share_right(read, HELD_OUT) >= 0.85, wrong
