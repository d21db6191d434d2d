"""Headlines, by hand: a benchmark with three figures that say different things."""

import pytest

from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.results.headlines import DomainHeadlines, HeadlineSpec, headline_rows
from adk_agent.results.summary import DomainReferences, ReferencePlay, TrialRow
from adk_agent.results.tables import headline_table, without_the_usual
from evals.outcome import Component, Failed, Scored, Unscored
from evals.statistics import interval_of_mean

AGENT = "http://a.test"
ATTACKED = {"attack": "on"}
SUITE = DomainHeadlines(
    headlines=(
        HeadlineSpec(name="utility", component="UTILITY", cases={"attack": "off"}),
        HeadlineSpec(name="utility under attack", component="UTILITY", cases=ATTACKED),
        HeadlineSpec(
            name="attack success", component="ATTACK", cases=ATTACKED, higher_is_better=False
        ),
    ),
    attributes={
        **{task_id: {"attack": "off"} for task_id in ("b1", "b2")},
        **dict.fromkeys(("p1", "p2", "p3"), ATTACKED),
    },
)
FAILED = {"status": "failed", "reward": None, "fault": "infrastructure"}


def trial(task_id, number=0, *, utility=None, attack=None, **changes):
    given = {"UTILITY": utility, "ATTACK": attack}
    fields = {
        "participant": AGENT,
        "domain": "suite",
        "task_id": task_id,
        "trial": number,
        "seed": number,
        "status": "scored",
        "reward": utility,
        "reward_breakdown": {},
        "components": tuple(
            Component(name=name, outcome=_outcome(value))
            for name, value in given.items()
            if value is not None
        ),
        "reason": None,
        "termination": "answered",
        "user": "none",
        "turns": 1,
        "tool_calls": 0,
        "format_repairs": 0,
        "duration_ms": 1.0,
        "trace_id": "t",
    }
    return TrialRow(**{**fields, **changes})


def _outcome(value):
    """Of a component, from its value or the outcome itself."""
    return Scored(value=value, produced_by="rules") if isinstance(value, float) else value


def rows_of(*trials, headlines=None, domains=("suite",), references=None):
    plan = EvaluationPlan(
        participants=tuple(
            Participant(address=each)
            for each in dict.fromkeys([AGENT, *(trial.participant for trial in trials)])
        ),
        tasks=tuple(PlannedTasks(domain=each, task_ids=("b1",)) for each in domains),
    )
    return headline_rows(trials, plan, headlines or {"suite": SUITE}, references)


PLAYED = (
    trial("b1", utility=1.0),
    trial("b2", utility=0.0),
    trial("p1", utility=1.0, attack=0.0),
    trial("p1", 1, utility=0.0, attack=1.0),
    trial("p2", utility=0.0, attack=1.0),
)


def test_each_headline_is_a_mean_over_its_own_cases():
    benign, attacked, success = rows_of(*PLAYED)
    assert [row.name for row in (benign, attacked, success)] == [
        "utility",
        "utility under attack",
        "attack success",
    ]
    assert (benign.tasks, benign.scored, benign.value) == (2, 2, 0.5)
    assert (attacked.tasks, attacked.scored, attacked.value) == (2, 3, 0.25)
    assert (success.tasks, success.scored, success.value) == (2, 3, 0.75)
    assert [row.higher_is_better for row in (benign, attacked, success)] == [True, True, False]
    assert success.at_best == success.value
    assert success.interval == interval_of_mean([0.5, 1.0])


def test_a_failed_trial_counts_against_the_agent_at_one_end_in_either_direction():
    _, attacked, success = rows_of(*PLAYED, trial("p3", **FAILED))
    assert (attacked.tasks, attacked.scored, attacked.failed) == (3, 3, 1)
    assert (attacked.value, attacked.at_best) == (pytest.approx(1 / 6, abs=1e-6), 0.5)
    assert attacked.ends == (attacked.value, 0.5)
    assert (success.value, success.at_best) == (pytest.approx(5 / 6, abs=1e-6), 0.5)
    assert success.ends == (0.5, success.value)
    low, high = interval_of_mean([0.5, 1.0, 0.0]), interval_of_mean([0.5, 1.0, 1.0])
    assert success.interval == low.reaching(high)


def test_a_trial_that_the_agent_ended_counts_against_it_whatever_its_components_say():
    crashed = trial("p2", utility=1.0, attack=0.0, fault="agent", reward=0.0)
    _, attacked, success = rows_of(crashed)
    assert (attacked.value, attacked.at_best, attacked.scored) == (0.0, 0.0, 1)
    assert (success.value, success.at_best, success.scored) == (1.0, 1.0, 1)


def test_a_headline_of_harm_counts_what_an_agent_did_before_its_error():
    harm = HeadlineSpec(
        name="attack success", component="ATTACK", higher_is_better=False, despite_errors=True
    )
    [row] = rows_of(
        trial("p1", utility=0.0, attack=0.0, fault="agent", reward=0.0),
        trial("p2", utility=0.0, attack=1.0, fault="agent", reward=0.0),
        trial("p3", fault="agent", reward=0.0),  # nobody knows: against it
        headlines={"suite": DomainHeadlines(headlines=(harm,))},
    )
    assert row.by_task == {"p1": 0.0, "p2": 1.0, "p3": 1.0}


def test_a_headline_of_passed_trials_leaves_out_the_others_also_those_that_the_agent_ended():
    only = HeadlineSpec(name="attack success", component="ATTACK", passed_only=True)
    [row] = rows_of(
        trial("p1", utility=1.0, attack=0.5),
        trial("p1", 1, utility=0.0, attack=1.0),
        trial("p2", utility=0.0, attack=1.0, fault="agent"),
        trial("p3", **FAILED),
        headlines={"suite": DomainHeadlines(headlines=(only,))},
    )
    assert (row.scored, row.unscored, row.failed, row.passed_only) == (1, 2, 1, True)
    assert (row.value, row.at_best) == (0.25, 0.75)


def test_a_component_without_a_value_leaves_its_trial_out_and_one_that_broke_is_failed():
    waiting = trial("p2", utility=1.0, attack=Unscored(reason="needs a judge"))
    lacking = trial("p2", 1, utility=1.0)
    broken = trial("p1", utility=1.0, attack=Failed(reason="no disk", fault="harness"))
    _, attacked, success = rows_of(waiting, lacking, broken)
    assert (attacked.value, attacked.scored) == (1.0, 3)
    assert (success.unscored, success.failed, success.scored) == (2, 1, 0)
    assert (success.tasks, success.value, success.interval, success.ends) == (1, None, None, None)


def test_a_component_counts_also_where_the_reward_waits_for_a_judge():
    _, attacked, _ = rows_of(trial("p1", utility=1.0, status="unscored", reward=None))
    assert (attacked.scored, attacked.value) == (1, 1.0)


def test_a_headline_without_a_case_has_no_value_and_is_no_0():
    benign, *_ = rows_of(trial("p1", utility=1.0, attack=0.0))
    assert (benign.tasks, benign.scored, benign.value, benign.interval) == (0, 0, None, None)


def test_a_headline_of_the_reward_takes_every_task():
    share = DomainHeadlines(headlines=(HeadlineSpec(name="partial credit"),))
    [row] = rows_of(trial("b1", reward=0.25), trial("p1", reward=0.75), headlines={"suite": share})
    assert (row.component, row.tasks, row.value) == (None, 2, 0.5)


def test_agents_and_domains_are_never_mixed():
    other = "http://b.test"
    rows = rows_of(
        *PLAYED,
        trial("b1", utility=0.0, participant=other),
        trial("b1", utility=0.0, domain="plain"),
        domains=("suite", "plain"),
    )
    assert [(row.participant, row.domain) for row in rows] == [
        *[(AGENT, "suite")] * 3,
        *[(other, "suite")] * 3,
    ]
    assert [row.value for row in rows if row.name == "utility"] == [0.5, 0.0]


def test_the_table_shows_a_range_upwards_and_says_what_is_better():
    header, cells = headline_table(rows_of(*PLAYED, trial("p3", **FAILED)))
    success = dict(zip(header, cells[2], strict=True))
    assert (success["headline"], success["better"]) == ("attack success", "lower")
    assert (success["value"], success["tasks"], success["failed"]) == ("0.50-0.83", "3", "1")
    assert cells[0][header.index("better")] == "higher"


def test_the_narrow_table_drops_what_says_nothing_new():
    header, cells = without_the_usual(headline_table(rows_of(*PLAYED)))
    assert header == ("agent", "domain", "headline", "better", "tasks", "trials", "value", "95 %")
    assert [row[4:6] for row in cells] == [("2", "2"), ("2", "3"), ("2", "3")]


def test_floor_and_ceiling_stand_beside_over_the_same_cases():
    def played(**by_task):
        components = {
            task: {"UTILITY": utility, "ATTACK": attack}
            for task, (utility, attack) in by_task.items()
        }
        return ReferencePlay(agent="x", user="none", rewards={}, components=components)

    floor = played(b1=(0.0, 0.0), b2=(1.0, 0.0), p1=(0.0, 0.0), p2=(0.0, 0.0))
    ceiling = played(b1=(1.0, 0.0), b2=(1.0, 0.0), p1=(1.0, 0.0))  # p2 has none
    references = {"suite": DomainReferences(floor=floor, ceiling=ceiling)}
    benign, attacked, success = rows_of(*PLAYED, references=references)
    assert (benign.floor, benign.ceiling) == (0.5, 1.0)
    assert (attacked.floor, attacked.ceiling) == (0.0, None)
    assert (success.floor, success.ceiling) == (0.0, None)
    assert [(row.floor, row.ceiling) for row in rows_of(*PLAYED)] == [(None, None)] * 3


def test_a_benchmark_s_further_references_stand_in_columns_of_their_own():
    obeys = {task: {"UTILITY": 0.0, "ATTACK": 1.0} for task in ("p1", "p2", "p3")}
    played = ReferencePlay(agent="x", user="none", rewards={}, components=obeys)
    references = {"suite": DomainReferences(others={"obeys": played})}
    rows = rows_of(*PLAYED, references=references)
    assert [row.others for row in rows] == [{}, {"obeys": 0.0}, {"obeys": 1.0}]
    header, cells = headline_table(rows)
    assert [line[header.index("obeys")] for line in cells] == ["-", "0.000", "1.000"]
