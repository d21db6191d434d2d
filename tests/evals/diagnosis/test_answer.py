"""Answers to exercises that are not right."""

import pytest

from evals.diagnosis import diagnose_answer
from tests.evals.diagnosis.plays import component, result


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("", "format"), ("I cannot help with that.", "gave_up"), ("It costs 12.", "communication")],
)
def test_an_answer_is_missing_refused_or_wrong(answer, kind):
    graded = result(component("COMMUNICATE", "says '15'", "does not say '12'"))
    found = diagnose_answer(graded, answer)
    assert (found.kind, found.not_communicated) == (kind, ("'15'",))
    assert "The user was told '12', which is not right." in (found.summary, *found.findings)
