"""Trials under injected faults: beside the plain ones, and able to tell agents apart."""

import json
import re

import pytest

import greenroom
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.play.evaluation import evaluate, resume
from adk_agent.present.page.faulted import faulted_json
from adk_agent.present.page.writing import write_page
from adk_agent.results.markdown import render_markdown
from adk_agent.results.robustness_text import robustness_lines
from adk_agent.runs.store import iter_trials
from tau_bridge.chaos.profiles import parse_chaos
from tests.adk_agent.present.page.kept_run import text_of, unpacked
from tests.fakes import scripted_agent

pytestmark = [pytest.mark.requirement("test:chaos"), pytest.mark.usefixtures("quick_start")]
AGENTS = ("idempotent", "retrying", "writes-twice", "forgetful")
FAULTS = "lost_reply=0.5,busy=0.2,duplicate=0.5,tool_error=0.5,tool_fields=0.3,prompt=1"
TASKS = ("create_task_1", "update_task_1", "update_task_with_initialization_data")


def plan_of(*, chaos=FAULTS, seed=300, agents=AGENTS, num_trials=3, **others):
    return EvaluationPlan(
        participants=tuple(Participant(role=each, address=f"builtin:{each}") for each in agents),
        tasks=(PlannedTasks(domain="mock", task_ids=TASKS),),
        num_trials=num_trials,
        seed=seed,
        chaos=None if chaos is None else parse_chaos(chaos),
        **others,
    )


def found_in(report):
    return {(row.participant.partition(":")[2], row.family): row for row in report.robustness}


async def test_faults_find_the_agents_that_they_are_for(make_deps):
    deps = make_deps()
    report = await evaluate(plan_of(seed=301, num_trials=2), deps, request="r")
    rows = found_in(report)
    assert len(rows) == len(AGENTS) * 4
    for family in ("network", "duplicates", "prompts"):
        for agent in ("idempotent", "retrying"):
            assert rows[agent, family].comparison.second == 1.0
            assert rows[agent, family].repeated_writes == 0
    for family in ("network", "duplicates"):
        assert rows["writes-twice", family].repeated_writes > 0
        assert rows["forgetful", family].comparison.second < 1.0
        assert rows["forgetful", family].repeated_writes == 0
    assert rows["writes-twice", "duplicates"].comparison.second < 1.0
    assert rows["retrying", "tools"].comparison.second == 1.0
    assert rows["idempotent", "tools"].comparison.second < 1.0
    assert rows["retrying", "tools"].repeated_writes == rows["retrying", "tools"].blind_writes == 0

    # All agents meet the same faults where their conversations are alike.
    assert rows["idempotent", "duplicates"].faults == rows["retrying", "duplicates"].faults

    # Nothing that happened under faults is in a plain score.
    assert {row.pass_hat_k["1"] for row in report.summary} == {1.0}
    assert {row.trials for row in report.summary} == {len(TASKS) * 2}
    assert len(report.trials) == len(AGENTS) * len(TASKS) * 2
    assert len(report.faulted) == 4 * len(report.trials)

    # Each fault stands in the trace of its play, and in no other.
    record = next(iter_trials(deps.results_dir, report.run_id))
    assert {play.result.family for play in record.chaos} == {
        *("network", "duplicates", "tools", "prompts")
    }
    traces = {record.trace.trace_id, *(play.trace.trace_id for play in record.chaos)}
    assert len(traces) == 5
    assert all(step.additional_attributes.get("injected") is None for step in record.trace.steps)
    noted = [
        step.additional_attributes["injected"]
        for play in record.chaos
        for step in play.trace.steps
        if "injected" in step.additional_attributes
    ]
    told = [fault.kind for play in record.chaos for fault in play.result.faults]
    assert sorted(noted) == sorted(kind for kind in told if kind != "prompt")

    text = render_markdown(report)
    assert "## Robustness" in text
    assert "| builtin:writes-twice | mock | duplicates |" in text
    assert all(set(row.consistency.values()) == {1.0} for row in report.reliability)
    page = write_page(deps.results_dir, report.run_id, benchmarks=deps.benchmarks)
    shown = page.read_text(encoding="utf-8")
    assert 'id="robustness"' in shown
    assert "passed plain, and not under" in text_of(shown)
    plays = unpacked(shown)[0]["chaos"]
    assert [play["family"] for play in plays] == ["network", "duplicates", "tools", "prompts"]

    again = await resume(report.run_id, deps)
    assert again.robustness == report.robustness
    assert {row.participant for row in report.of("forgetful").robustness} == {"builtin:forgetful"}


async def test_faults_between_members_find_a_team_that_does_not_send_again(make_deps):
    plan = EvaluationPlan(
        participants=(Participant(address="builtin:team:star5"),),
        tasks=(PlannedTasks(domain="coordination", task_ids=("ex01_return_with_fee",)),),
        chaos=parse_chaos("member_busy=1"),
    )
    deps = make_deps()
    report = await evaluate(plan, deps, request="r")
    [row] = report.robustness
    assert (row.family, row.comparison.first, row.comparison.second) == ("members", 1.0, 0.0)
    [record] = iter_trials(deps.results_dir, report.run_id)
    assert all(step.error is None for step in record.trace.steps)
    [play] = record.chaos
    hit = [step.callee for step in play.trace.steps if "injected" in step.additional_attributes]
    assert len(hit) == len(play.result.faults) > 0
    page = write_page(deps.results_dir, report.run_id, benchmarks=deps.benchmarks)
    [shown] = unpacked(page.read_text(encoding="utf-8"))[0]["chaos"]
    assert shown["items"][-1]["text"].endswith("was turned away once: status 503.")


async def test_a_run_without_faults_has_no_section_about_them(make_deps):
    plan = plan_of(chaos=None, agents=("idempotent",), num_trials=1)
    report = await evaluate(plan, make_deps(), request="r")
    assert report.robustness == report.reliability == report.faulted == ()
    assert "## Robustness" not in render_markdown(report)


async def test_what_cannot_be_injected_is_unscored_with_the_reason(make_deps):
    plan = plan_of(chaos="prompts,members", agents=("idempotent",), num_trials=1, solo=True)
    of_words, of_members = (await evaluate(plan, make_deps(), request="r")).robustness
    assert (of_words.comparison, of_words.pairs, of_words.repeated_writes) == (None, 0, None)
    assert of_words.reason == "the benchmark cannot inject prompt here"
    assert of_members.reason == "no calls between members of a team are observed here"


async def test_a_rate_too_low_to_hit_is_unscored_and_one_trial_has_no_consistency(make_deps):
    plan = plan_of(chaos="duplicate=0.000001", agents=("idempotent",), num_trials=1)
    report = await evaluate(plan, make_deps(), request="r")
    [row] = report.robustness
    assert (row.comparison, row.untouched) == (None, len(TASKS))
    assert row.reason == "no fault was drawn; raise the rates or play more trials"
    [consistency] = report.reliability
    assert set(consistency.reasons) == {"outcome", "trajectory", "resources"}
    assert "Consistency was not measured" in render_markdown(report)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_agents_are_ranked_alike_whatever_the_seed(make_deps, seed):
    report = await evaluate(plan_of(chaos="duplicates", seed=seed), make_deps(), request="r")
    rows = found_in(report)
    assert rows["idempotent", "duplicates"].comparison.second == 1.0
    assert rows["writes-twice", "duplicates"].repeated_writes > 0
    assert rows["forgetful", "duplicates"].comparison.second < 1.0


def test_an_error_at_a_duplicate_is_told_beside_the_score_that_does_not_show_it(tmp_path):
    heard = set()

    def reply(text, context_id):
        if (text, context_id) in heard:
            raise RuntimeError("that came before")
        heard.add((text, context_id))
        return json.dumps({"name": "respond", "arguments": {"content": "###STOP###"}})

    report = greenroom.evaluate(
        {"strict": scripted_agent(reply)},
        "mock",
        tasks=1,
        offline=True,
        chaos="duplicate=1",
        results_dir=tmp_path,
    )
    [row] = report.robustness
    assert row.comparison.difference == 0
    assert row.refused_duplicates == 1  # the first message has no context by which it is known
    [line] = robustness_lines(report.robustness)
    assert line.endswith(", 1 duplicate answered with an error")
    assert "answered with an error" in render_markdown(report)


def clerk(user_id=None):
    """An agent that makes the task that it is asked for: for the user who is named, or another."""

    def answer(message):
        named = re.findall(r"for (user_\d+)", message)
        if not named:
            call = {"name": "respond", "arguments": {"content": "It is done."}}
        else:
            arguments = {"user_id": user_id or named[-1], "title": "Important Meeting"}
            call = {"name": "create_task", "arguments": arguments}
        return json.dumps(call)

    return answer


@pytest.mark.parametrize(("knows", "under", "by_heart"), [(None, 1.0, 0), ("user_1", 0.0, 1)])
def test_other_names_find_an_agent_that_knows_the_data_by_heart(tmp_path, knows, under, by_heart):
    report = greenroom.evaluate(
        clerk(knows),
        "mock",
        tasks=["create_task_1"],
        chaos="names",
        offline=True,
        results_dir=tmp_path,
    )
    [row] = report.robustness
    assert (row.comparison.first, row.comparison.second) == (1.0, under)
    assert row.by_heart == by_heart
    [line] = robustness_lines(report.robustness)
    assert ("named ids that it was not told in 1 trial" in line) == bool(by_heart)
    [record] = iter_trials(tmp_path, report.run_id)
    [play] = record.chaos
    [fault] = play.result.faults
    heart = "named user_1, which nobody had told it; " if by_heart else ""
    [other] = re.findall(rf"^{heart}told (user_\d+) for user_1$", fault.detail)
    assert fault.by_heart == (("user_1",) if by_heart else ())
    # The conversation is kept in the world's names, and the wire in those that the agent met.
    calls = [call for each in play.messages for call in each.get("tool_calls", ())]
    assert calls[0]["arguments"]["user_id"] == (other if by_heart else "user_1")
    assert f"for {other}" in play.trace.steps[0].request_text
    [shown] = [item for item in faulted_json(record, bool)[0]["items"] if item["who"] == "fault"]
    assert shown["text"].endswith(f"{fault.detail}.")
