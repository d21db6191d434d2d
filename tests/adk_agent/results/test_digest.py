import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.results.digest import DigestRow, ReportDigest, template_prose, unsupported_numbers


def digest(*rows, **changes):
    fields = {
        "run_id": "20260102-030405-abc123",
        "status": "complete",
        "rows": rows or (row(),),
        "failing_components": {"DB": 17},
        "terminations": {"user_stop": 45, "max_steps": 5},
        "missing_scores": {"needs a judge for 1 of 3 statements": 12},
        "warnings": (),
    }
    return ReportDigest(**{**fields, **changes})


def row(participant="http://127.0.0.1:9010", passed=23, scored=50, trials=62, k=2):
    return DigestRow(
        participant=participant,
        domain="airline",
        tasks=31,
        trials=trials,
        passed=passed,
        scored=scored,
        unscored=trials - scored,
        failed=0,
        pass_1=passed / scored,
        pass_k=0.3141,
        k=k,
    )


@pytest.mark.parametrize(
    "prose",
    [
        "It passed 23 of 50 (46 %), pass^1 0.46 and pass^2 0.314.",
        "23/50 passed; 27 out of 50 did not; 12 of the 62 are unscored.",
        "http://127.0.0.1:9010 needs a judge for 1 of 3 statements, 12 times.",
        "Run 20260102-030405-abc123: three findings, 1. 2. 3.",
    ],
)
def test_the_reports_own_numbers_are_supported(prose):
    assert unsupported_numbers(prose, digest()) == []


@pytest.mark.parametrize(
    ("prose", "invented"),
    [
        ("It passed 24 of 50.", ["24 of 50"]),
        ("pass^1 is 0.47.", ["0.47"]),
        ("A score of 0.55.", ["0.55"]),
        ("All 77 tasks.", ["77"]),
        ("The port is 9010.", ["9010"]),
        ("It passed 2/2.", ["2 of 2"]),
    ],
)
def test_other_numbers_are_not(prose, invented):
    assert unsupported_numbers(prose, digest()) == invented


@pytest.mark.parametrize(
    ("component", "gold", "changes"), [("DB", True, False), ("STATE", False, True)]
)
def test_the_gold_path_is_recommended_only_where_there_is_one(component, gold, changes):
    prose = template_prose(digest(failing_components={component: 3}))
    assert ("with the gold path" in prose) == gold
    assert ("Check which changes the trials that did not pass left out" in prose) == changes


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 60), st.integers(0, 9)), min_size=1),
    st.dictionaries(st.text(min_size=12), st.integers(1, 99), max_size=3),
)
def test_the_template_says_nothing_that_the_digest_does_not(figures, reasons):
    rows = [
        row(passed=min(passed, scored), scored=scored, trials=scored + more, k=1 + more % 4)
        for passed, scored, more in figures
    ]
    summary = digest(*rows, missing_scores=reasons)
    assert unsupported_numbers(template_prose(summary), summary) == []
