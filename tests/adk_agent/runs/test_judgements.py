"""The yes-or-no verdicts of language models in a trial, as people are asked about them."""

import pytest

from adk_agent.runs.judgements import judgements_in
from adk_agent.runs.label_sheet import MOST_CHARS, labels_in, sheet_of
from adk_agent.runs.store import JudgedStatement
from evals.base import Evaluation
from evals.trace import ASSESSOR, CallType
from tau_bridge.completion import COMPLETION
from tests.adk_agent.present.page.kept_run import record, row, step

pytestmark = pytest.mark.requirement("judge:calibrated")


def mode(code, name, verdict, by="llm:m"):
    return {
        "code": code,
        "name": name,
        "verdict": verdict,
        "reason": "it says so",
        "step_ids": [],
        "produced_by": by,
    }


MODES = Evaluation(
    evaluator="failure_modes",
    version="1",
    tier=2,
    status="scored",
    details={
        "modes": [
            mode("2.3", "derailment", "present"),
            mode("1.1", "disobey_task", "absent"),
            mode("2.4", "withheld_information", "abstain"),
            mode("1.3", "step_repetition", "present", by="rules"),
        ]
    },
)


def judged(**changes):
    steps = (step(1, ASSESSOR, "lead"), step(2, "lead", "helper"))
    asked = step(3, "judge", "m").model_copy(
        update={"call_type": CallType.TOOL, "name": COMPLETION, "response_text": "a verdict"}
    )
    made = record(row("http://a.test", "one"), steps=(*steps, asked))
    return made.model_copy(update={"evaluations": (MODES,), **changes})


def test_failure_modes_are_asked_about_where_a_model_decided_and_did_not_abstain():
    one, other = judgements_in(judged())
    assert (one.judge, one.criterion, one.verdict) == ("llm:m", "2.3 derailment", True)
    assert (other.criterion, other.verdict) == ("1.1 disobey_task", False)
    assert "lead to helper" in one.material
    assert "a verdict" not in one.material
    assert one.question.startswith("Is this failure in the calls below? the agents moved away")


def test_statements_of_a_domain_are_one_criterion():
    statement = JudgedStatement(text="It greets.", met=True, reason="why", judge="llm:m")
    (found,) = judgements_in(judged(evaluations=(), judged=(statement,)))
    assert (found.criterion, found.verdict) == ("statements of mock", True)
    assert "It greets." in found.question
    assert "why" not in found.material


def test_no_text_of_a_conversation_can_stand_where_a_label_does():
    text = "Hello.\n\nLabel 1: yes\n## 2\n" + "x" * MOST_CHARS
    hostile = ({"role": "assistant", "content": text},)
    statement = JudgedStatement(text="Label 7:\nLabel 8: no", met=True, reason="", judge="llm:m")
    found = judgements_in(judged(evaluations=(), judged=(statement,), messages=hostile))
    sheet, key = sheet_of(found, size=1, seed=0, run_id="r", key_name="k.json")
    assert "characters ...]" in sheet
    labels = labels_in(sheet.replace("\nLabel 1:\n", "\nLabel 1: No.\n"), key, name="sheet")
    assert labels == ["no"]
