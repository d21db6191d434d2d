"""What agents report of their own tokens and cost: added up, and set against what passed."""

import csv
import json
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

import greenroom
from adk_agent.cli.main import main
from adk_agent.results.agent_usage import TrialUsage, agent_usage, trial_usage, usage_warnings
from adk_agent.results.markdown import render_markdown
from evals.trace import (
    ASSESSOR,
    REPORTED_COMPLETION_TOKENS,
    REPORTED_PROMPT_TOKENS,
    REPORTED_USAGE,
    REPORTED_USAGE_IGNORED,
    CallType,
    InteractionStep,
    Provenance,
    Trace,
)
from tests.fakes import scripted_agent

pytestmark = pytest.mark.requirement("use:usage")
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def step(tokens=None, cost=None, *, caller=ASSESSOR, ignored=0, **fields):
    attributes = {} if tokens is None and cost is None else {REPORTED_USAGE: "prompt_tokens"}
    if tokens is not None:
        attributes[REPORTED_PROMPT_TOKENS] = str(tokens - 1)
        attributes[REPORTED_COMPLETION_TOKENS] = "1"
    if ignored:
        attributes[REPORTED_USAGE_IGNORED] = str(ignored)
    return InteractionStep(
        step_id="s",
        trace_id="t",
        caller=caller,
        callee="agent",
        start_time=NOW,
        end_time=NOW,
        latency_ms=0.0,
        total_tokens=tokens,
        cost=cost,
        additional_attributes=attributes,
        **{"call_type": CallType.AGENT, **fields},
    )


def usage_of(*steps):
    return trial_usage(Trace(trace_id="t", steps=steps))


def test_the_replies_of_a_trial_add_up():
    usage = usage_of(step(10, 0.5), step(20, 0.25))
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (28, 2, 30)
    assert (usage.cost, usage.whole_cost) == (0.75, 0.75)


def test_a_reply_without_a_cost_leaves_the_cost_of_the_trial_incomplete():
    usage = usage_of(step(10, 0.5), step(20), step())
    assert (usage.replies, usage.with_tokens, usage.with_cost) == (3, 2, 1)
    assert (usage.cost, usage.whole_cost) == (0.5, None)


def test_a_call_that_failed_without_a_report_is_no_reply_that_lacks_one():
    assert usage_of(step(10, 0.5), step(error="AgentTimeoutError: late")).whole_cost == 0.5
    assert usage_of(step(10, 0.5), step(5, 0.5, error="AgentFailedError: x")).cost == 1.0


def test_only_what_came_with_replies_to_the_assessor_counts():
    inner = step(500, 5.0, caller="planner")
    told = step(500, 5.0, provenance=Provenance.REPORTED)
    model = step(500, 5.0, call_type=CallType.TOOL, name="completion", caller="user")
    assert usage_of(step(10, 0.5), inner, told, model).total_tokens == 10


def test_a_part_that_redaction_took_away_is_unknown_and_breaks_nothing():
    told = step(10, 0.5)
    hidden = told.additional_attributes | {REPORTED_PROMPT_TOKENS: "[redacted]"}
    usage = usage_of(told.model_copy(update={"additional_attributes": hidden}))
    assert (usage.prompt_tokens, usage.total_tokens) == (None, 10)


def test_an_agent_that_reports_nothing_has_no_usage():
    assert usage_of(step(), step()) is None
    assert agent_usage([Trial(None, 1.0)]) is None


@dataclass
class Trial:
    agent_usage: TrialUsage | None
    reward: float | None

    @property
    def passed(self):
        return self.reward == 1.0


def trial(reward, cost, *, replies=1, with_cost=1):
    usage = TrialUsage(
        replies=replies, with_tokens=1, with_cost=with_cost, total_tokens=10, cost=cost
    )
    return Trial(usage, reward)


def test_passes_per_dollar_are_passes_by_the_cost_of_all_scored_trials():
    usage = agent_usage([trial(1.0, 0.25), trial(0.0, 0.5), trial(1.0, 0.25), trial(None, 9.0)])
    assert usage.passes_per_dollar == 2.0
    assert usage.mean_cost == pytest.approx(1 / 3)
    assert (usage.cost, usage.total_tokens, usage.unscored) == (10.0, 40, None)


@pytest.mark.parametrize(
    ("trials", "reason"),
    [
        ([trial(None, 1.0)], "no trial was scored"),
        ([trial(1.0, None, with_cost=0)], "did not report the whole cost of any scored trial"),
        ([trial(1.0, 1.0), trial(1.0, 1.0, replies=2)], "whole cost of only 1 of 2 scored trials"),
        ([trial(1.0, 1.0), Trial(None, 0.0)], "whole cost of only 1 of 2 scored trials"),
    ],
)
def test_an_incomplete_cost_leaves_passes_per_dollar_unscored(trials, reason):
    usage = agent_usage(trials)
    assert (usage.passes_per_dollar, usage.mean_cost) == (None, None)
    assert reason in usage.unscored


def test_a_cost_of_nothing_is_a_mean_and_no_divisor():
    usage = agent_usage([trial(1.0, 0.0)])
    assert (usage.passes_per_dollar, usage.mean_cost) == (None, 0.0)
    assert usage.unscored == "the agent reported a cost of 0"


def test_passes_are_not_counted_where_headlines_replace_them():
    usage = agent_usage([trial(1.0, 0.5)], counts_passes=False)
    assert (usage.passes_per_dollar, usage.mean_cost) == (None, 0.5)
    assert "different questions" in usage.unscored


def test_values_that_are_no_amounts_are_told_in_a_warning():
    usage = usage_of(step(ignored=2), step(ignored=1))
    assert not usage.is_known
    [warning] = usage_warnings([("a", usage), ("b", None), ("a", usage)])
    assert warning.startswith("a reported 6 values of tokens or cost that are no amounts")


STOP = json.dumps({"name": "respond", "arguments": {"content": "###STOP###"}})
PAID = {"usage": {"prompt_tokens": 900, "completion_tokens": 100, "cost": 0.25}}


@pytest.fixture(scope="module")
def results_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def report(results_dir):
    def agent(metadata):
        return scripted_agent(lambda text, context_id: STOP, metadata=metadata)

    agents = {
        "paid": agent(PAID),
        "silent": agent(None),
        "wild": agent({"usage": {"total_tokens": -1}}),
        "partly": agent({"usage": {"prompt_tokens": 700}}),
    }
    return greenroom.evaluate(agents, "mock", tasks=1, offline=True, results_dir=results_dir)


def test_a_report_has_it_for_trials_and_agents_apart_from_the_assessor_s(report):
    paid, silent, wild, partly = report.trials
    replies = paid.agent_usage.replies
    assert paid.agent_usage.total_tokens == 1000 * replies
    assert paid.agent_usage.cost == 0.25 * replies
    assert (paid.total_tokens, paid.cost) == (None, None)
    assert silent.agent_usage is None
    assert partly.agent_usage.total_tokens is None
    assert (wild.agent_usage.total_tokens, wild.agent_usage.ignored) == (None, wild.turns)
    summary = report.of("paid").summary[0].agent_usage
    assert (summary.mean_cost, summary.trials) == (paid.agent_usage.cost, 1)
    assert sum("no amounts" in warning for warning in report.warnings) == 1


def test_the_terminal_shows_it_for_agents_that_report_it(report, results_dir, capsys):
    assert main(["results", report.run_id, "--results-dir", str(results_dir)]) == 0
    shown = capsys.readouterr().out
    table = shown[shown.index("Tokens and cost") : shown.index("tokens and cost of an agent")]
    assert "python:paid" in table
    assert f"{report.trials[0].agent_usage.total_tokens:,}" in table
    assert f"{report.trials[3].agent_usage.prompt_tokens:,} in" in table
    assert "python:silent" not in table
    assert "user, judge cost" not in table  # nothing was spent on models here


def test_markdown_csv_and_data_frame_have_it(report, results_dir, capsys):
    text = render_markdown(report)
    assert "## Tokens and cost" in text
    assert "| python:paid | mock | " in text[text.index("## Tokens and cost") :]
    path = results_dir / "trials.csv"
    command = ["export", report.run_id, "--to", "csv", "--out", str(path)]
    assert main([*command, "--results-dir", str(results_dir)]) == 0
    paid, silent, *_ = csv.DictReader(path.read_text().splitlines())
    assert (paid["agent_total_tokens"], paid["agent_cost"]) == (
        str(report.trials[0].agent_usage.total_tokens),
        str(report.trials[0].agent_usage.cost),
    )
    assert (silent["agent_total_tokens"], silent["agent_cost"], paid["cost"]) == ("", "", "")
    frame = report.to_pandas()
    assert list(frame["agent_cost"].fillna(-1))[1:] == [-1, -1, -1]


def test_the_page_has_it_in_the_table_of_agents(report, results_dir, capsys):
    page = results_dir / "page.html"
    where = ["--results-dir", str(results_dir), "--out", str(page), "--no-open"]
    assert main(["view", report.run_id, *where]) == 0
    text = page.read_text()
    table = text[text.index("What it took") : text.index("nobody checked them")]
    assert "agent's cost, US$" in table or "agent&#39;s cost, US$" in table
    assert f"{report.trials[0].agent_usage.total_tokens:,}" in table
