"""Runs that end early because a rule says so: what a rule may say, and what becomes of the run."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adk_agent.core.errors import RequestError
from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.core.settings import Settings
from adk_agent.play.evaluation import evaluate, resume
from adk_agent.play.stop_rule import FIGURES, EarlyStop, in_fair_order, parse_stop_rule
from adk_agent.results.running_scores import EndedTrial, RunningScores
from adk_agent.runs.jobs import jobs_of
from tau_bridge.completion import CompletionResult
from tests.fakes import scripted_agent, serve
from tests.fakes.runtime import ManualClock, chat_model

TASKS = ("create_task_1", "update_task_1", "impossible_task_1")


def nothing(text, context_id):
    return "I cannot help with that."


def creates_the_task(text, context_id):
    arguments = {"user_id": "user_1", "title": "Important Meeting"}
    done = {"name": "respond", "arguments": {"content": "Done. Is there anything else?"}}
    create = {"name": "create_task", "arguments": arguments}
    return json.dumps(done if text.startswith("{") else create)


def plan_of(*addresses, domains=(("airline", 20),), **changes):
    return EvaluationPlan(
        participants=tuple(Participant(address=address) for address in addresses),
        tasks=tuple(
            PlannedTasks(domain=domain, task_ids=tuple(map(str, range(count))))
            for domain, count in domains
        ),
        **changes,
    )


class Course:
    """A run whose trials end as a test says."""

    def __init__(self, rule, plan=None):
        self.plan = plan or plan_of("a")
        self.clock = ManualClock()
        self.running_scores = RunningScores.of_plan(self.plan)
        self.early = EarlyStop(
            parse_stop_rule(rule), plan=self.plan, scores=self.running_scores, clock=self.clock
        )

    def ends(self, task, outcome, *, agent="a", domain="airline", trial=0, **fields):
        self.running_scores.add(
            EndedTrial(
                participant=agent,
                domain=domain,
                task_id=str(task),
                trial=trial,
                outcome=outcome,
                **fields,
            )
        )

    def all_end(self, tasks, outcome, **fields):
        for task in tasks:
            self.ends(task, outcome, **fields)

    @property
    def stops(self):
        return self.early.should_stop() is not None


@pytest.mark.parametrize(
    ("rule", "passed", "failed", "stops"),
    [
        ("passed > 2", 2, 0, False),
        ("passed >= 2", 2, 0, True),
        ("passed>=2", 2, 0, True),
        ("FAILED > 0 AND Passed > 0", 1, 1, True),
        ("failed > 0 and passed > 0", 1, 0, False),
        ("failed > 5 or passed > 0", 1, 0, True),
        ("passed > 0 or failed > 0 and failed > 5", 1, 0, True),
        ("failed > 0 and failed > 5 or passed > 5", 1, 1, False),
        ("trials >= 3", 1, 2, True),
        ("passed < 1 and failed > 1", 0, 2, True),
    ],
)
def test_a_rule_is_read_as_it_is_written_and_binds_more_tightly(rule, passed, failed, stops):
    course = Course(rule)
    course.all_end(range(passed), "passed")
    course.all_end(range(10, 10 + failed), "failed")
    assert course.stops is stops


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        ("", "it is empty"),
        ("  ", "it is empty"),
        ("intervall < 0.1", "'intervall' is no figure (the nearest is 'interval')"),
        ("passrate > 0.5", "(the nearest is 'pass_rate')"),
        ("< 0.1", "'<' is no figure"),
        ("interval", "'interval' is compared by one of <=, >=, <, >, but nothing follows it"),
        ("failed = 3", "but '=' follows it"),
        ("failed == 3", "but '==' follows it"),
        ("failed <> 3", "'>' is not a number"),
        ("failed >", "'failed' is compared with nothing"),
        ("failed > three", "'three' is not a number"),
        ("failed > nan", "'nan' is not a number from 0"),
        ("failed > inf", "'inf' is not a number from 0"),
        ("failed > -1", "'-1' is not a number from 0"),
        ("interval < 5", "'interval' lies between 0 and 1 and is compared with 5"),
        ("pass_rate > 5%", "'5%' is not a number"),
        ("failed > 3 passed > 2", "'passed' stands where 'and' or 'or' was expected"),
        ("failed > 3 and", "nothing follows 'and'"),
        ("failed > 3 or", "nothing follows 'or'"),
        ("failed < 3", "'failed < 3' holds before anything is played"),
        ("minutes >= 0", "holds before anything is played"),
        (" or ".join(["failed > 3"] * 21), "it has more than 20 conditions"),
        ("failed > 3 " + "x" * 5000, "it has more than 20 conditions"),
    ],
)
def test_a_rule_that_cannot_be_read_says_why_and_what_is_allowed(rule, complaint):
    with pytest.raises(RequestError) as caught:
        parse_stop_rule(rule)
    assert complaint in str(caught.value)
    assert all(figure in str(caught.value) for figure in FIGURES)


@given(
    st.lists(
        st.sampled_from([*FIGURES, "<", "<=", ">", "and", "or", "0.5", "3", "=", "x"]), max_size=12
    )
)
def test_whatever_is_written_is_a_rule_or_a_complaint(words):
    try:
        rule = parse_stop_rule(" ".join(words))
    except RequestError:
        return
    assert parse_stop_rule(rule.text) == rule


def test_an_interval_counts_from_ten_tasks_on_for_the_least_known_agent():
    course = Course("interval < 0.25", plan_of("a", "b"))
    for task in range(9):
        course.ends(task, "passed", agent="a")
        course.ends(task, "passed", agent="b")
    assert not course.stops
    course.ends(9, "passed", agent="a")
    assert not course.stops
    course.ends(9, "passed", agent="b")  # Jeffreys' interval of 10 of 10 begins at 0.78
    assert course.stops
    assert "interval 0.2" in course.early.should_stop()


def test_a_domain_with_fewer_tasks_needs_all_of_them():
    course = Course("pass_rate < 0.5", plan_of("a", domains=(("mock", 3),)))
    course.all_end(range(2), "not passed", domain="mock")
    assert not course.stops
    course.ends(2, "not passed", domain="mock")
    assert course.stops


def test_an_agent_whose_trials_all_fail_does_not_keep_a_rule_from_holding():
    course = Course("pass_rate > 0.9", plan_of("a", "gone"))
    course.all_end(range(10), "passed")
    course.all_end(range(9), "failed", agent="gone")
    assert not course.stops
    course.ends(9, "failed", agent="gone")
    assert course.stops


def test_a_domain_of_which_nothing_ended_yet_is_waited_for():
    course = Course("pass_rate > 0.9", plan_of("a", domains=(("airline", 20), ("mock", 2))))
    course.all_end(range(10), "passed")
    assert not course.stops
    course.all_end(range(2), "failed", domain="mock")
    assert course.stops


def test_cost_and_tokens_are_those_that_models_told():
    course = Course("cost > 1 or tokens >= 100")
    course.ends(0, "passed")
    assert not course.stops
    course.ends(1, "passed", cost=0.9, total_tokens=60)
    assert not course.stops
    course.ends(2, "passed", total_tokens=40)
    assert course.early.should_stop() == "'cost > 1 or tokens >= 100': cost 0.9, tokens 100"


def test_a_rule_on_cost_warns_where_no_model_of_ours_takes_part():
    course = Course("cost > 0.1 or tokens > 5")
    assert course.early.warnings(spends=False) == [
        "the rule 'cost > 0.1 or tokens > 5': cost and tokens stayed 0, because no language model "
        "plays the user or judges; what agents spend is not counted"
    ]


def test_a_cost_that_nobody_tells_is_warned_about():
    course = Course("cost > 1")
    course.ends(0, "passed")
    assert not course.stops
    assert course.early.warnings(spends=True) == [
        "the rule 'cost > 1' was not decided: cost was not known"
    ]


@pytest.mark.parametrize(
    ("rule", "cost", "tokens", "said"),
    [
        ("cost > 1", None, 7, "cost leaves out the calls of tiny, which have no known price"),
        ("tokens > 9", 0.1, None, "tokens leaves out the calls of tiny, which do not report"),
        ("cost > 1 or tokens > 9", 0.1, 7, None),
        ("trials > 9", None, None, None),
    ],
)
def test_a_rule_that_cannot_be_decided_with_these_models_is_known_before_the_run(
    rule, cost, tokens, said
):
    answers = [
        CompletionResult(content="yes", model="gpt-4o", cost=0.1, total_tokens=7),
        CompletionResult(content="yes", model="tiny", cost=cost, total_tokens=tokens),
    ]
    doubts = Course(rule).early.doubts(answers, spends=True)
    assert [said in doubt for doubt in doubts] == ([] if said is None else [True])


async def test_a_rule_on_cost_is_warned_of_before_anything_is_played(make_deps, make_plan):
    shown = []
    with serve(chat_model(lambda _: "###STOP###")) as url:
        settings = Settings.load(llm_api_key="k", llm_base_url=f"{url}/v1", llm_model="tiny")
        deps = make_deps(settings=settings, stop_rule=parse_stop_rule("cost > 5"))
        await evaluate(make_plan("builtin:null"), deps, request="r", on_progress=shown.append)
    told = [at for at, progress in enumerate(shown) if progress.is_warning]
    assert [shown[at].message for at in told] == [
        "warning: the rule 'cost > 5': cost leaves out the calls of tiny, which have no known "
        "price; stop by tokens, trials or minutes instead"
    ]
    assert told[0] < next(at for at, each in enumerate(shown) if each.stage == "playing")


async def test_a_rule_on_cost_without_a_model_is_warned_of_before_the_run(make_deps, make_plan):
    shown = []
    deps = make_deps(stop_rule=parse_stop_rule("cost > 5"))
    await evaluate(make_plan("builtin:null"), deps, request="r", on_progress=shown.append)
    [told] = [each for each in shown if each.is_warning]
    assert "cost will stay 0, because no language model" in told.message
    assert told.stage == "preparing"


def test_minutes_count_from_the_first_trial():
    course = Course("minutes >= 5")
    course.clock.advance(600)
    assert not course.stops
    course.clock.advance(299)
    assert not course.stops
    course.clock.advance(1)
    assert course.stops


def test_what_was_decided_stays_decided():
    course = Course("failed >= 1")
    course.ends(0, "failed")
    assert course.stops
    course.ends(0, "passed")
    assert course.running_scores.counts["failed"] == 0
    assert course.stops


def test_every_beginning_of_a_fair_order_treats_tasks_and_agents_alike():
    plan = plan_of("a", "b", domains=(("airline", 6), ("retail", 6)), num_trials=2)
    order = in_fair_order(jobs_of(plan), plan.seed)
    assert sorted(job.key for job in order) == sorted(job.key for job in jobs_of(plan))
    assert [job.trial for job in order] == [0] * 24 + [1] * 24
    assert [job.participant.address for job in order] == ["a", "b"] * 24
    tasks = [(job.domain, job.task_id) for job in order[::2]]
    assert tasks == [(job.domain, job.task_id) for job in order[1::2]]
    assert tasks[:12] == tasks[12:]
    assert tasks[:12] != sorted(tasks[:12])
    assert {domain for domain, _ in tasks[:6]} == {"airline", "retail"}
    assert order == in_fair_order(jobs_of(plan), plan.seed)
    assert order != in_fair_order(jobs_of(plan), plan.seed + 1)


@pytest.fixture(scope="module")
def agent():
    with serve(scripted_agent(nothing)) as url:
        yield url


async def test_a_run_that_a_rule_ends_is_complete_and_says_so_and_resume_plays_the_rest(
    make_deps, make_plan, agent
):
    plan = make_plan(agent, task_ids=TASKS, num_trials=2, max_concurrency=1)
    rule = parse_stop_rule("trials >= 4")
    report = await evaluate(plan, make_deps(stop_rule=rule), request="r")
    assert report.status == "complete"
    assert sorted(row.trial for row in report.trials) == [0, 0, 0, 1]
    assert (
        "stopped early, as asked, after 4 of 6 trials, by the rule 'trials >= 4': trials 4"
        in report.warnings
    )
    assert "2 of 6 trials not played" in report.warnings
    assert report.stopped_by == "trials >= 4"
    assert not any("chosen by the results" in warning for warning in report.warnings)
    whole = await resume("run-1", make_deps())
    assert (whole.status, len(whole.trials)) == ("complete", 6)
    assert whole.stopped_by is None
    assert not any("early" in warning for warning in whole.warnings)


async def test_trials_under_way_end_and_scores_that_chose_the_moment_are_warned_about(
    make_deps, make_plan
):
    rule = parse_stop_rule("passed >= 1")
    with serve(scripted_agent(creates_the_task)) as url:
        plan = make_plan(url, num_trials=6, max_concurrency=2)
        report = await evaluate(plan, make_deps(stop_rule=rule), request="r")
    assert len(report.trials) == 2  # the other was under way
    assert all(row.status == "scored" for row in report.trials)
    assert any("the moment to stop was chosen by the results" in each for each in report.warnings)


async def test_a_rule_that_never_holds_changes_nothing_but_the_order(make_deps, make_plan, agent):
    plan = make_plan(agent, task_ids=TASKS, max_concurrency=1)
    rule = parse_stop_rule("trials >= 3")
    report = await evaluate(plan, make_deps(stop_rule=rule), request="r")
    assert [row.task_id for row in report.trials] == list(TASKS)
    assert report.stopped_by is None
    assert not any("early" in warning for warning in report.warnings)
