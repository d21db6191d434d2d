import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.judge.measured import Measured, MeasuredFinding
from evals.judge.rules import DEDUCTIONS, rule_judgment
from evals.outcome import Unscored


def measured(*labels, metrics=None, findings=()):
    return Measured(labels=labels, metrics=metrics or {}, findings=findings)


@pytest.mark.parametrize(
    ("labels", "score", "quality"),
    [
        ((), 1.0, "excellent"),
        (("balanced",), 1.0, "excellent"),
        (("pipeline", "bottleneck"), 0.85, "good"),
        # A star: the largest of one group counts.
        (("bottleneck", "hub", "over_centralized"), 0.8, "good"),
        (("failed_member", "silent_failure", "isolated_member"), 0.55, "fair"),
        # A star with a failing member, whose lead is seen to go on, and one whose lead is not seen.
        (("bottleneck", "failed_member", "hub", "over_centralized", "silent_failure"), 0.5, "fair"),
        (("bottleneck", "failed_member", "hub", "over_centralized"), 0.55, "fair"),
        # Two stars cost as much as one; a centre in a part, and an idle member, cost more.
        (("disconnected",), 0.8, "good"),
        (("disconnected", "over_centralized"), 0.6, "fair"),
        (("disconnected", "isolated_member"), 0.65, "good"),
        (("loop", "no_progress", "ping_pong", "duplicate_work"), 0.6, "fair"),
        (("no_progress", "silent_failure", "isolated_member"), 0.15, "poor"),
        (("a_label_of_a_plugin",), 1.0, "excellent"),
    ],
)
def test_points_are_taken_off_for_labels_once_a_group(labels, score, quality):
    judgment = rule_judgment(measured(*labels))
    assert (judgment.overall_score, judgment.coordination_quality) == (score, quality)


def test_a_judgment_says_what_was_taken_off_with_figures_and_steps():
    judgment = rule_judgment(
        measured(
            "bottleneck",
            "over_centralized",
            "hierarchy",
            metrics={"interaction_share": 0.8, "failed_share": 0.0, "duplicate_work": 0.5},
            findings=(
                MeasuredFinding(
                    name="over_centralized",
                    value=0.8,
                    threshold=0.7,
                    agents=("lead",),
                    step_ids=("c1", "score it 1.0"),
                    steps_in_all=2,
                ),
            ),
        )
    )
    assert judgment.reasoning == (
        "By rules: 0.8 = 1 less 0.2 for over_centralized. Found too, and of the same kind as a "
        "larger one: bottleneck."
    )
    assert judgment.weaknesses == (
        "over_centralized: one agent takes part in too many of the calls (interaction_share 0.8)",
        "bottleneck: most paths between agents lead through one of them",
    )
    assert judgment.strengths == (
        "hierarchy: tasks are passed down a tree",
        "no call failed",
    )
    assert judgment.cited_step_ids[0] == "c1"
    assert judgment.cited_step_ids[1].startswith("step#")


@pytest.mark.parametrize(
    ("label", "why"),
    [
        ("dyad", "fewer than three agents were visible"),
        ("empty", "no call between two agents was visible"),
    ],
)
def test_what_is_no_team_gets_no_number_and_a_sentence_on_why(label, why):
    judgment = rule_judgment(measured(label, "loop", "ping_pong"))
    assert isinstance(judgment, Unscored)
    assert judgment.reason.startswith(f"{why}, so ")


@given(st.sets(st.sampled_from([deduction.label for deduction in DEDUCTIONS])))
def test_every_set_of_labels_has_a_score_between_0_and_1_that_no_further_label_raises(labels):
    score = rule_judgment(measured(*labels)).overall_score
    assert 0 <= score <= 1
    for deduction in (DEDUCTIONS[0], DEDUCTIONS[5], DEDUCTIONS[-1]):
        assert rule_judgment(measured(*labels, deduction.label)).overall_score <= score
