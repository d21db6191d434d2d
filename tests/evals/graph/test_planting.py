"""Planted pathologies: each metric finds its own, and the more of it the higher the dose.

Spearman's rank correlation is over all traces of all seeds at once (dose against metric, one point
a trace), not over means. Where figures differ within a dose, perfect order comes to 0.986 only.
"""

from collections import Counter
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from evals.base import EvaluationContext
from evals.graph.catalogue import builtin_metrics
from evals.graph.evaluator import GraphEvaluator, measured
from evals.graph.interactions import Interactions
from evals.graph.metric import MetricRegistry
from evals.trace import CallType, InteractionStep, Trace
from tests.fakes.planting import LEAST_AGENTS, MOST_DOSE, Pathology, Topology, clean_trace, plant

PATHOLOGIES = get_args(Pathology)
SEEDS = range(12)
SIZES = (8, 10, 12)

METRICS = {
    "bottleneck": "betweenness",
    "disconnected": "connected_components",
    "distribution": "density",
    "duplicate_work": "duplicate_work",
    "failed_member": "failed_share",
    "isolated_agent": "degree",
    "loop": "delegation_cycles",
    "over_centralized": "interaction_share",
    "ping_pong": "ping_pong_share",
    "silent_failure": "silent_failures",
}

sizes = st.integers(LEAST_AGENTS, 11)
seeds = st.integers(0, 10_000)
doses = st.integers(1, MOST_DOSE)


BY_NAME = {metric.name: metric for metric in builtin_metrics()}


def figure(planted, pathology):
    """The metric of a pathology, turned so that more is worse."""
    team = Interactions.of(planted.trace, planted.roster)
    found = measured(BY_NAME[METRICS[pathology]], team)
    if pathology == "isolated_agent":
        return sum(degree == 0 for degree in found.agents.values())
    return -found.value if pathology == "distribution" else found.value


def figures_by_dose(pathology):
    """For each dose the figures, one for each seed."""
    clean = [clean_trace(seed, SIZES[seed % len(SIZES)]) for seed in SEEDS]
    return {
        dose: [figure(plant(clean[seed], pathology, dose, seed), pathology) for seed in SEEDS]
        for dose in range(MOST_DOSE + 1)
    }


async def finding_names(planted):
    context = EvaluationContext(trace=planted.trace, roster=planted.roster)
    evaluation = await GraphEvaluator(MetricRegistry()).evaluate(context)
    return {finding["name"] for finding in evaluation.details["findings"]}


def area_under_the_curve(planted, clean):
    """How likely a planted trace has a higher figure than a clean one; ties count half."""
    wins = sum((one > other) + (one == other) / 2 for one in planted for other in clean)
    return wins / (len(planted) * len(clean))


def test_the_area_under_the_curve_of_a_hand_computed_case():
    # Pairs: 3>1, 3>2, 2>1 and the tie 2=2: 3.5 of 4.
    assert area_under_the_curve([2, 3], [1, 2]) == 0.875


@pytest.mark.requirement("data:ground-truth")
@pytest.mark.parametrize("pathology", PATHOLOGIES)
def test_the_metric_of_a_pathology_finds_it_and_follows_its_dose(pathology):
    figures = figures_by_dose(pathology)
    for dose in range(1, MOST_DOSE + 1):
        assert area_under_the_curve(figures[dose], figures[0]) >= 0.95, f"dose {dose}"
    points = [(dose, value) for dose, values in figures.items() for value in values]
    assert spearmanr(*zip(*points, strict=True)).statistic >= 0.95
    for one_trace in zip(*figures.values(), strict=True):
        assert list(one_trace) == sorted(one_trace)
        assert one_trace[0] < one_trace[-1]


@pytest.mark.parametrize("pathology", sorted(set(PATHOLOGIES) - {"distribution"}))
async def test_the_highest_dose_makes_the_finding_and_a_clean_trace_does_not(pathology):
    """Not so for `distribution`: that finding is made of every team, healthy or not."""
    for seed in range(6):
        clean = clean_trace(seed, SIZES[seed % len(SIZES)])
        assert pathology not in await finding_names(plant(clean, pathology, 0, seed))
        assert pathology in await finding_names(plant(clean, pathology, MOST_DOSE, seed))


@settings(max_examples=40)
@given(seed=seeds, agents=sizes, topology=st.sampled_from(get_args(Topology)))
def test_a_clean_trace_is_of_a_whole_team_with_spread_calls(seed, agents, topology):
    trace = clean_trace(seed, agents, topology=topology)
    team = Interactions.of(trace)
    assert team.problems == ()
    assert len(team.members) == agents
    assert len(team.weights) / (agents * (agents - 1)) > 0.3


@settings(max_examples=40)
@given(seed=seeds, agents=sizes, topology=st.sampled_from(get_args(Topology)))
def test_without_hitches_every_call_is_new_and_succeeds(seed, agents, topology):
    trace = clean_trace(seed, agents, topology=topology, hitches=0)
    assert all(step.error is None for step in trace.steps)
    asked = Counter((step.callee, step.request_text) for step in trace.steps)
    assert max(asked.values()) == 1


def test_with_hitches_alone_every_call_fails_once_and_is_asked_back_about():
    smooth = clean_trace(1, 6, topology="mesh", hitches=0)
    rough = clean_trace(1, 6, topology="mesh", hitches=1)
    calls = len(smooth.steps) - 1
    assert len(rough.steps) == 1 + 3 * calls
    assert sum(step.error is not None for step in rough.steps) == calls


@settings(max_examples=40)
@given(
    seed=seeds, agents=sizes, pathology=st.sampled_from(PATHOLOGIES), dose=st.integers(0, MOST_DOSE)
)
def test_a_planted_trace_is_well_formed(seed, agents, pathology, dose):
    planted = plant(clean_trace(seed, agents), pathology, dose, seed)
    by_id = {step.step_id: step for step in planted.trace.steps}
    assert len(by_id) == len(planted.trace.steps)
    assert Interactions.of(planted.trace, planted.roster).problems == ()
    starts = [step.start_time for step in planted.trace.steps]
    assert starts == sorted(set(starts))
    for step in planted.trace.steps:
        if step.parent_step_id is not None:
            parent = by_id[step.parent_step_id]
            assert parent.callee == step.caller
            assert parent.start_time < step.start_time <= step.end_time < parent.end_time
    assert set(planted.step_ids) <= set(by_id)


@settings(max_examples=40)
@given(seed=seeds, agents=sizes, pathology=st.sampled_from(PATHOLOGIES), dose=doses)
def test_the_same_arguments_plant_the_same(seed, agents, pathology, dose):
    once = plant(clean_trace(seed, agents), pathology, dose, seed)
    again = plant(clean_trace(seed, agents), pathology, dose, seed)
    assert once.trace.to_json() == again.trace.to_json()
    assert once == again


@pytest.mark.parametrize("pathology", PATHOLOGIES)
def test_dose_0_gives_the_trace_back(pathology):
    clean = clean_trace(5)
    planted = plant(clean, pathology, 0, 5)
    assert planted.trace is clean
    assert planted.step_ids == ()
    assert len(planted.roster) == 10


@pytest.mark.parametrize("pathology", PATHOLOGIES)
def test_seeds_plant_in_different_places(pathology):
    clean = clean_trace(5, topology="mesh")
    planted = {plant(clean, pathology, 2, seed).trace.to_json() for seed in range(20)}
    assert (len(planted) > 1) is (pathology != "isolated_agent")


def test_the_steps_that_were_planted_are_named():
    planted = plant(clean_trace(2, hitches=0), "silent_failure", 3, 2)
    failed = [step.step_id for step in planted.trace.steps if step.error is not None]
    assert list(planted.step_ids) == failed
    assert len(failed) == 3


def test_pathologies_can_be_planted_on_top_of_each_other():
    first = plant(clean_trace(2), "ping_pong", 2, 2)
    idle = plant(first.trace, "isolated_agent", 2, 2, roster=first.roster)
    both = plant(idle.trace, "loop", 3, 2, roster=idle.roster)
    ids = [step.step_id for step in both.trace.steps]
    assert len(set(ids)) == len(ids)
    assert {"idle-1", "idle-2"} <= set(both.roster)


def bare(step_id, parent=None, caller="a", callee="b"):
    return InteractionStep(
        step_id=step_id,
        trace_id="t",
        parent_step_id=parent,
        call_type=CallType.AGENT,
        caller=caller,
        callee=callee,
    )


@pytest.mark.parametrize("pathology", PATHOLOGIES)
@pytest.mark.parametrize("steps", [(bare("1"),), (bare("1", parent="gone", callee="a"),)])
def test_in_a_trace_that_is_too_small_as_much_is_planted_as_there_is_room_for(pathology, steps):
    planted = plant(Trace(trace_id="t", steps=steps), pathology, 5, 1, roster=("a", "b"))
    assert {"a", "b"} <= set(planted.roster)


@pytest.mark.parametrize("roster", [(), ("a",), ("a", "b", "c")])
@pytest.mark.parametrize("pathology", PATHOLOGIES)
def test_a_team_without_calls_stays_without_calls(pathology, roster):
    planted = plant(Trace(trace_id="t"), pathology, 5, 1, roster=roster)
    assert planted.trace.steps == ()


def test_a_chain_of_many_calls_within_calls_is_no_problem():
    steps = tuple(
        bare(str(n), str(n - 1) if n else None, f"m{n}", f"m{n + 1}") for n in range(3000)
    )
    planted = plant(Trace(trace_id="t", steps=steps), "loop", 5, 1)
    assert len(planted.trace.steps) == 3000


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ((bare("1"), bare("1", caller="c")), "two steps with one id"),
        ((bare("1", parent="2"), bare("2", parent="1")), "parents form a circle"),
    ],
)
def test_a_trace_that_is_no_forest_of_calls_is_refused(steps, message):
    with pytest.raises(ValueError, match=message):
        plant(Trace(trace_id="t", steps=steps), "loop", 1, 1)


def test_arguments_out_of_range_are_refused():
    with pytest.raises(ValueError, match="a team of 5 agents; there must be 6 to 200"):
        clean_trace(1, 5)
    with pytest.raises(ValueError, match="hitches of 2"):
        clean_trace(1, hitches=2)
    with pytest.raises(ValueError, match="a dose of 6; it must be 0 to 5"):
        plant(clean_trace(1), "loop", 6, 1)
    with pytest.raises(ValueError, match="no pathology 'chaos'; there are: bottleneck, "):
        plant(clean_trace(1), "chaos", 1, 1)
