"""Runs as JUnit XML, read by the parser of the standard library."""

from xml.etree import ElementTree

import pytest

from adk_agent.runs.results import results_so_far
from evals.diagnosis import CallDifference, Diagnosis, Divergence, ReplyFormat

from .conftest import BROKEN, UNSCORED, trial


@pytest.fixture
def suites(exported):
    """The suites of a run by their names, each with its cases by theirs."""

    def read(results_dir):
        [text] = exported(results_dir, "junit").values()
        return {
            suite.get("name"): (suite, {case.get("name"): case for case in suite.iter("testcase")})
            for suite in ElementTree.fromstring(text)  # noqa: S314  (written by ourselves)
        }

    return read


def test_a_played_run_is_a_suite_with_a_case_for_each_trial(played, suites):
    [(name, (suite, cases))] = suites(played.results_dir).items()
    assert name == f"{played.url} mock"
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "2",
        "errors": "0",
        "skipped": "0",
    }
    assert {name: [child.tag for child in case] for name, case in cases.items()} == {
        "create_task_1 trial 0": [],
        "create_task_1 trial 1": [],
        "update_task_1 trial 0": ["failure"],
        "update_task_1 trial 1": ["failure"],
    }


def test_every_end_of_a_trial_has_its_element(stored, suites):
    why = Diagnosis(
        kind="wrong_write",
        side="agent",
        summary="it wrote the wrong title",
        departure=Divergence(message=3, call="create_task"),
        calls=(CallDifference(how="differs", name="create_task", differing=("title",)),),
        not_communicated=("42",),
        reply_format=ReplyFormat(
            repairs={"unparsable": 1}, replies=2, example='{"name":', expected=('{"name": "x"}',)
        ),
    )
    results_dir = stored(
        trial(reward=0.0, reward_breakdown={"DB": 0.0}, diagnosis=why),
        trial(number=1, **UNSCORED | {"reason": "needs a judge"}),
        trial("update_task_1", **BROKEN | {"reason": "it hung", "fault": "infrastructure"}),
    )
    [(_, (suite, cases))] = suites(results_dir).items()
    failure = cases["create_task_1 trial 0"].find("failure")
    assert (failure.get("type"), failure.get("message")) == ("wrong_write", why.summary)
    for line in (
        "left the gold path at message 3: create_task",
        "differs: create_task in title",
        "not communicated: 42",
        'sent, for example: {"name":',
        'should send: {"name": "x"}',
        "reward 0 of DB 0",
    ):
        assert line in failure.text.splitlines()
    assert cases["create_task_1 trial 1"].find("skipped").get("message") == "needs a judge"
    error = cases["update_task_1 trial 0"].find("error")
    assert (error.get("type"), error.get("message")) == ("infrastructure", "it hung")
    missing = cases["update_task_1 trial 1"].find("skipped")
    assert missing.get("message").startswith("not played")
    assert (suite.get("errors"), suite.get("skipped"), suite.get("time")) == ("1", "2", "4.500")


def test_a_failure_that_nobody_looked_into_tells_the_reward(stored, suites):
    results_dir = stored(trial(reward=0.0, reward_breakdown={"DB": 0.0, "ACTION": 1.0}))
    [(_, (_, cases))] = suites(results_dir).items()
    failure = cases["create_task_1 trial 0"].find("failure")
    assert failure.get("message") == "not passed: reward 0 of DB 0"


def test_text_that_is_no_xml_is_shown_as_escapes(stored, suites):
    hostile = 'a\x00b\x1b[31m <x> & "q" \ufffe\u202e'
    [(_, (_, cases))] = suites(
        stored(trial(**BROKEN | {"reason": hostile, "fault": "agent"}))
    ).items()
    message = cases["create_task_1 trial 0"].find("error").get("message")
    assert message == r'a\x00b\x1b[31m <x> & "q" \ufffe\u202e'


def test_trials_that_a_rule_left_out_are_skipped_by_that_rule(stored, suites):
    results_dir = stored(trial())
    _, report = results_so_far(results_dir, "run-1")
    ended = report.model_copy(update={"status": "complete", "stopped_by": "trials >= 1"})
    (results_dir / "run-1" / "report.json").write_text(ended.to_json())
    [(_, (_, cases))] = suites(results_dir).items()
    skipped = cases["create_task_1 trial 1"].find("skipped")
    assert skipped.get("message") == "not played: the rule 'trials >= 1' ended the run"
