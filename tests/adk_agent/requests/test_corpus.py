"""The reader of requests without a model, against its corpora and by properties."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adk_agent.core.plan import EvaluationRequest
from adk_agent.requests.agents import BUNDLED_AGENTS, BUNDLED_TEAMS
from adk_agent.requests.intent import Evaluate
from adk_agent.requests.refusal import Refusal
from tests.adk_agent.requests.sentences import Read, ReadEvaluation, answer

CORPUS = Path(__file__).resolve().parents[3] / "data" / "requests.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()]
PLANNED = [row for row in ROWS if "request" in row]
DOMAINS = ("airline", "retail", "telecom", "mock", "coordination", "business")


def reading(read_text: ReadEvaluation, text: str) -> Evaluate | None:
    """Return how a text is read; None where it is refused."""
    try:
        return read_text(text)
    except Refusal:
        return None


def plays(found: Evaluate) -> EvaluationRequest:
    """Return what an evaluation plays."""
    selections = tuple(
        each.model_copy(update={"first": each.first and each.num_tasks is not None})
        for each in found.request.selections
    )
    beside = {"reasoning": "", "warnings": (), "named_size": False, "selections": selections}
    return found.request.model_copy(update=beside)


def is_right(found: Evaluate | None, row: dict[str, Any]) -> bool:
    """Tell whether a reading is what the row expects, asked or not."""
    if found is None or "request" not in row:
        return found is None
    fields = {name: value for name, value in row["request"].items() if name != "warnings"}
    return plays(found) == EvaluationRequest(**fields)


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
    assert len(PLANNED) >= 150
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(("request" in row) != ("refusal" in row) for row in ROWS)


def test_nearly_all_plans_of_the_corpus_are_read_right(read_text: ReadEvaluation) -> None:
    wrong = [row["id"] for row in PLANNED if not is_right(reading(read_text, row["text"]), row)]
    assert len(wrong) <= 0.12 * len(PLANNED), wrong


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_nothing_is_played_unasked_that_the_corpus_does_not_expect(
    read_text: ReadEvaluation, row: dict[str, Any]
) -> None:
    found = reading(read_text, row["text"])
    assert is_right(found, row) or found is None or found.unused or found.doubts, plays(found)


@given(st.text(max_size=200))
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_text_gives_a_request_or_a_refusal(read_text: ReadEvaluation, text: str) -> None:
    found = reading(read_text, text)
    assert found is None or additions(found.request, text) == []


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
    is_every = re.search(r"\b(each|all) domain\b", text)
    assert is_every or {each.domain for each in got.selections} <= named
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
