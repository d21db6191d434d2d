"""The sentence that a participant gets."""

import html
import json

from adk_agent.results.summary import DomainReferences, ReferencePlay
from tests.adk_agent.present.page.kept_run import RUN, keep_run, page_of, record, row, text_of


def test_a_verdict_says_pass_1_its_interval_floor_ceiling_and_what_failed_most(tmp_path):
    tasks = ["a", "b", "c", "d"]
    rewards = dict(zip(tasks, [1.0, 1.0, 0.0, 0.0], strict=True))
    played = [record(row("http://x.test", task, reward=value)) for task, value in rewards.items()]
    marks = DomainReferences(
        floor=ReferencePlay(agent="builtin:null", user="scripted", rewards={**rewards, "a": 0.0}),
        ceiling=ReferencePlay(
            agent="builtin:oracle", user="scripted", rewards=dict.fromkeys(tasks, 1.0)
        ),
    )
    shown = text_of(page_of(keep_run(tmp_path, played, references={"mock": marks})))
    assert "0.500 pass^1, 95 % interval 0." in shown
    assert "Passed 2 of 4 scored trials. Not clearly different from an agent that does" in shown
    assert "nothing (floor 0.250)." in shown
    assert "0.500 below the ceiling (1.000)" in shown
    assert "the database ended in another state (2 of 2 that did not pass)." in shown


def test_a_verdict_compares_with_floor_and_ceiling_on_the_tasks_that_have_them(tmp_path):
    rewards = {"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.0}
    played = [record(row("http://x.test", task, reward=value)) for task, value in rewards.items()]
    marks = DomainReferences(
        floor=ReferencePlay(agent="builtin:null", user="scripted", rewards={"c": 1.0, "d": 0.0}),
        ceiling=ReferencePlay(agent="builtin:oracle", user="scripted", rewards={"c": 1.0}),
    )
    shown = text_of(page_of(keep_run(tmp_path, played, references={"mock": marks})))
    assert (
        "On the 2 tasks with a floor, not clearly different from an agent that does nothing "
        "(pass^1 0.000, floor 0.500). "
        "On the 1 task with a ceiling, 1.000 below the ceiling (pass^1 0.000, ceiling 1.000)"
    ) in shown
    assert "– not known for 2 tasks" in shown
    assert "Floor –." in shown


def test_a_participant_without_any_score_is_said_to_have_none(tmp_path):
    failed = row("http://x.test", "a", reward=None, status="failed", reason="it hung up")
    shown = text_of(page_of(keep_run(tmp_path, [record(failed)], status="incomplete")))
    assert "Has no score: of 1 trial, 1 failed, most often because: it hung up." in shown
    assert "Some trials failed, so scores are ranges." in shown


def test_a_run_that_a_rule_stopped_is_not_called_played_to_its_end(tmp_path):
    folder = keep_run(tmp_path, [record(row("http://x.test", "a"))], trials=2)
    path = folder / RUN / "report.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "stopped_by": "trials >= 1"}))
    text = html.unescape(text_of(page_of(folder)))
    assert "Every trial of the run was played" not in text
    assert "by the rule 'trials >= 1': 1 of 2 trials were played, and none of them failed" in text
    assert "the rule 'trials >= 1' ended the run" in text
    assert "the run is complete" not in text
