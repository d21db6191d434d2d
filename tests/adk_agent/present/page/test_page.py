"""What the page and the markdown of a run say alike."""

from html import unescape

import pytest

from adk_agent.results.judges import JudgeRow
from adk_agent.results.markdown import render_markdown
from adk_agent.results.report import EvaluationReport
from adk_agent.results.team_summary import TeamRow
from evals.trace import ASSESSOR
from evals.user_check import UserCheck, UserFault
from tests.adk_agent.present.page.kept_run import (
    OF_FORM,
    RUN,
    keep_run,
    page_of,
    record,
    row,
    step,
    text_of,
)


def test_repairs_stand_by_kind_in_page_and_markdown_beside_their_number(tmp_path):
    kinds = {"fenced": 1, "plain_text": 2}
    lost = row(
        "http://a.test",
        "one",
        reward=0.0,
        format_repairs=3,
        repair_kinds=kinds,
        diagnosis=OF_FORM,
    )
    results_dir = keep_run(tmp_path, [record(lost)])
    page = page_of(results_dir)
    assert '<td class="n">3<br><span class="muted">plain_text 2, fenced 1</span></td>' in page
    assert "repaired: plain_text 2, fenced 1" in page
    report = EvaluationReport.model_validate_json((results_dir / RUN / "report.json").read_text())
    assert report.summary[0].repair_kinds == kinds
    text = render_markdown(report)
    assert "- http://a.test in mock: 3 (plain_text 2, fenced 1)" in text
    assert "| user_stop | plain_text 2, fenced 1 | It wrote text. |" in text
    assert "http://a.test sent, for example: `&lt;b>Sure!&lt;/b>`" in text
    assert '- `{"name": "get_users", "arguments": {}}`' in text


def test_a_team_s_judgement_stands_with_the_rules_score_and_its_flags(tmp_path):
    steps = (step(1, ASSESSOR, "lead"), step(2, "lead", "a"), step(3, "lead", "b"))
    runs = keep_run(tmp_path, [record(row("http://x.test", "a"), steps=steps)])
    path = runs / RUN / "report.json"
    team = TeamRow(
        participant="http://x.test",
        domain="mock",
        measured=1,
        not_measured={},
        labels={"hub": 1, "loop": 1},
        uncertain_labels=("hub",),
        findings=(),
        agents=3,
        calls=2,
        coverage=1.0,
        contradictions=0,
        judged=1.0,
        judged_by=("llm:m",),
        judged_by_rules=0.5,
        flagged=1,
        flags={"differs_from_rules": 1},
        flag_example="The model gives <b>1</b>.",
        consistency={},
    )
    report = EvaluationReport.model_validate_json(path.read_text()).model_copy(
        update={"teams": (team,)}
    )
    path.write_text(report.to_json())
    page = page_of(runs)
    assert "Labels: hub?, loop. Judged 1.000 by llm:m, 0.500 by rules." in text_of(page)
    assert "could take away the labels marked with" in text_of(page)
    assert "0.500 by rules. 1 judgement is flagged" in text_of(page)
    assert "1 judgement is flagged (differs from rules). The model gives" in text_of(page)
    assert "<b>1</b>" not in page
    markdown = render_markdown(report)
    assert "1.000 llm:m, rules 0.500, flagged 1 x" in markdown
    assert "http://x.test: 1 judgement is flagged" in markdown.replace("\\", "")


@pytest.mark.requirement("test:simulator")
def test_faults_of_users_are_quoted_and_mark_their_trials(tmp_path):
    fault = UserFault(
        kind="invented",
        certainty="proven",
        reason="the user gave the code 'W1'",
        quote="order <W1>",
        message=3,
    )
    faulty = row("http://a.test", "one", user="llm:m", user_check=UserCheck(faults=(fault,)))
    plain = row("http://a.test", "two", user="llm:m", user_check=UserCheck())
    page = page_of(keep_run(tmp_path, [record(faulty), record(plain)]))
    assert '<a href="#users">' in page
    assert "<W1>" not in page
    text = unescape(text_of(page))
    assert "1 of 2 trials have a proven fault of the user (1 invented a value)" in text
    assert "message 3, proven: the user gave the code 'W1' ('order <W1>')" in text
    assert text.count("the user invented a value") == 1


def test_a_page_without_checked_users_has_no_section_of_them(tmp_path):
    page = page_of(keep_run(tmp_path, [record(row("http://a.test", "one"))]))
    assert "Simulated users" not in page


@pytest.mark.requirement("judge:calibrated")
def test_the_page_names_the_calibration_of_each_judge_as_the_markdown_does(tmp_path):
    runs = keep_run(tmp_path, [record(row("http://a.test", "one"))])
    path = runs / RUN / "report.json"
    report = EvaluationReport.model_validate_json(path.read_text())
    judge = JudgeRow(
        judge="llm:m", criterion="statements", prompt="new1", verdicts=3, other_prompts=("old1",)
    )
    path.write_text(report.model_copy(update={"judges": (judge,)}).model_dump_json())
    text = unescape(text_of(page_of(runs)))
    assert "another version of its prompt (old1; here new1) and is not used" in text
    assert "judge llm:m is not calibrated for statements" in text
