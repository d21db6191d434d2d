"""Whether the agents of one run differ."""

import pytest

from adk_agent.core.plan import EvaluationPlan, Participant, PlannedTasks
from adk_agent.results.pair_text import pair_lines, pair_notes, pair_table
from adk_agent.results.pairs import agent_pairs
from adk_agent.results.summary import CEILING, FLOOR
from tests.adk_agent.results.compared import headline
from tests.adk_agent.results.mixed_runs import row

ONE, OTHER, THIRD = "http://one", "http://other", "http://third"


def plan_of(*agents, **changes):
    participants = tuple(
        each if isinstance(each, Participant) else Participant(role=each[-3:], address=each)
        for each in agents
    )
    tasks = (PlannedTasks(domain="mock", task_ids=("0",)),)
    return EvaluationPlan(participants=participants, tasks=tasks, **changes)


def trials_of(agent, ends):
    """One trial of each task: + passed, - did not pass, i failed."""
    return [row(task, 0, end, agent) for task, end in enumerate(ends)]


def pairs_of(**ends):
    agents = {"one": ONE, "other": OTHER, "third": THIRD}
    named = {agents[name]: letters for name, letters in ends.items()}
    rows = [each for agent, ends in named.items() for each in trials_of(agent, ends)]
    return agent_pairs(rows, plan_of(*named))


def test_the_better_agent_is_named_first_with_figures_and_interval():
    [pair] = pairs_of(one="-" * 10, other="+" * 10)
    assert pair.verdict == "second is better"
    [line] = pair_lines([pair])
    assert line.startswith(
        f"{OTHER} is better than {ONE}: pass^1 1.000 against 0.000, difference +1"
    )
    assert "p = 0.002, over 10 tasks" in line


def test_the_order_of_the_agents_changes_nothing_but_the_side():
    [there] = pairs_of(one="++++++++--", other="-" * 10)
    [back] = pairs_of(one="-" * 10, other="++++++++--")
    assert (there.verdict, back.verdict) == ("first is better", "second is better")
    figures = [pair_lines([pair])[0].partition("pass^1")[2] for pair in (there, back)]
    assert figures[0] == figures[1]


def test_agents_that_do_alike_do_not_differ():
    [pair] = pairs_of(one="+-+-", other="+-+-")
    assert (pair.verdict, pair.p_adjusted) == ("no difference", 1.0)
    assert (
        "no significant difference: pass^1 0.500 against 0.500, difference +0.000"
        in (pair_lines([pair])[0])
    )


def test_a_difference_that_failed_trials_decide_is_undecided():
    [pair] = pairs_of(one="-" * 8 + "i" * 6, other="+" * 8 + "i" * 6)
    assert pair.best_case is not None
    assert pair.best_case.difference > pair.comparison.difference
    assert pair.verdict == "undecided"
    assert "failed trials decide" in pair_lines([pair])[0]


def test_p_values_of_several_pairs_are_adjusted_for_their_number():
    alone = pairs_of(one="-" * 7, other="+" * 7)
    among = pairs_of(one="-" * 7, other="+" * 7, third="-" * 7)
    assert len(among) == 3
    assert among[0].p_adjusted == pytest.approx(3 * alone[0].p_adjusted)
    assert among[1].p_adjusted == 1.0
    assert "adjusted for 3 comparisons" in pair_lines(among)[0]


def test_floor_and_ceiling_that_were_added_are_no_rivals_and_named_ones_are():
    rows = [each for agent in (ONE, FLOOR, CEILING) for each in trials_of(agent, "+-")]
    added = [Participant(role="floor", address=FLOOR), Participant(role="ceiling", address=CEILING)]
    assert agent_pairs(rows, plan_of(ONE, *added)) == ()
    assert len(agent_pairs(rows, plan_of(ONE, FLOOR))) == 1


def test_members_of_a_team_are_not_compared():
    rows = [each for agent in (ONE, OTHER) for each in trials_of(agent, "+-")]
    both = plan_of(ONE, OTHER)
    assert agent_pairs(rows, both.model_copy(update={"members": both.participants})) == ()


def test_an_agent_without_a_score_is_in_no_pair():
    assert pairs_of(one="++", other="ii") == ()


def test_several_pairs_are_a_table_with_the_better_agent_first_and_the_common_facts_below():
    pairs = pairs_of(one="-" * 7, other="+" * 7, third="-" * 7)
    header, rows = pair_table(pairs)
    assert header == ("agent", "against", "difference", "95 %", "p", "verdict")
    assert [(row[0], row[1], row[2], row[-1]) for row in rows] == [
        (OTHER, ONE, "+1.000", "better"),
        (ONE, THIRD, "+0.000", "not significant"),
        (OTHER, THIRD, "+1.000", "better"),
    ]
    (note,) = pair_notes(pairs)
    assert note == "Each pair is compared over 7 tasks; p is adjusted for 3 comparisons."


def test_pairs_over_different_numbers_of_tasks_have_a_column_of_them():
    pairs = pairs_of(one="-" * 7, other="+" * 7, third="-" * 5)
    header, rows = pair_table(pairs)
    assert [row[header.index("tasks")] for row in rows] == ["7", "5", "5"]
    assert "the tasks that both have scores of" in pair_notes(pairs)[0]


def test_a_difference_that_failed_trials_decide_has_two_figures_in_the_table():
    pairs = pairs_of(one="-" * 8 + "i" * 6, other="+" * 8 + "i" * 6)
    _, ((*_, difference, _, _, verdict),) = pair_table(pairs)
    assert " or " in difference
    assert verdict == "undecided: failed trials decide"
    assert "counts failed trials against the agent" in pair_notes(pairs)[0]


def test_a_run_that_a_rule_ended_is_said_to_spoil_the_test():
    lines = pair_lines(pairs_of(one="++", other="--"), stopped_by="failed > 1")
    assert "stopped early by a rule" in lines[-1]


def pairs_by(*rows):
    return agent_pairs([], plan_of(ONE, OTHER), headlines=rows)


def test_headlines_that_replace_pass_hat_k_are_compared_each_for_itself():
    useful = [headline(agent, [1.0] * 10, name="useful") for agent in (ONE, OTHER)]
    resisted = [headline(ONE, [0.0] * 10), headline(OTHER, [1.0] * 10)]
    pairs = pairs_by(*useful, *resisted)
    assert [(each.headline, each.domains, each.verdict) for each in pairs] == [
        ("useful", ("suite",), "no difference"),
        ("resisted", ("suite",), "second is better"),
    ]
    assert pairs[1].p_adjusted == pytest.approx(2 * 2 / 2**10, abs=1e-6)
    line = pair_lines(pairs)[1]
    assert line.startswith(f"{OTHER} is better than {ONE}: resisted 1.000 against 0.000")
    assert "over 10 tasks of suite" in line


def test_less_is_better_where_the_headline_says_so():
    rows = [
        headline(agent, values, name="fooled", higher_is_better=False)
        for agent, values in ((ONE, [0.0] * 10), (OTHER, [1.0] * 10))
    ]
    [pair] = pairs_by(*rows)
    assert pair.verdict == "first is better"
    assert (
        f"{ONE} is better than {OTHER}: fooled 0.000 against 1.000, difference -1"
        in (pair_lines([pair])[0])
    )


def test_a_headline_that_is_the_complement_of_another_is_not_tested_twice():
    rows = [
        each
        for agent, value in ((ONE, 0.25), (OTHER, 1.0))
        for each in (
            headline(agent, [value] * 10),
            headline(agent, [1 - value] * 10, name="fooled", higher_is_better=False),
        )
    ]
    assert [each.headline for each in pairs_by(*rows)] == ["resisted"]


def test_failed_trials_that_could_turn_a_headline_leave_it_undecided():
    rows = [headline(ONE, [1.0] * 10), headline(OTHER, [0.0] * 10, at_best=[1.0] * 10)]
    [pair] = pairs_by(*rows)
    assert (pair.verdict, pair.best_case.difference) == ("undecided", 0.0)
