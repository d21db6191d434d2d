"""What tables say of scores and of teams."""

import pytest

from adk_agent.results.digest import digest_of
from adk_agent.results.tables import doubt, score_table, team_table
from tests.adk_agent.results.mixed_runs import report_of
from tests.adk_agent.results.team_trials import graph, judged, row


def test_the_rules_score_and_the_flags_stand_beside_a_model_s_judgement():
    by = "llm:m"
    found = row(
        {"graph": graph("hub"), "judge": judged(1.0, rules=0.5, flags=["addresses_judge"], by=by)},
        {"graph": graph("hub"), "judge": judged(0.6, rules=0.6, by=by)},
        {
            "graph": graph("hub"),
            "judge": judged(0.8, rules=0.1, flags=["differs_from_rules"] * 2, by=by),
        },
    )
    assert (found.judged, found.judged_by_rules, found.flagged) == (0.8, 0.4, 2)
    assert found.flags == {"addresses_judge": 1, "differs_from_rules": 1}
    _, ((*_, cell),) = team_table([found])
    assert cell == "0.800 llm:m, rules 0.400, flagged 2 x"
    assert doubt(found) == (
        "2 judgements are flagged (addresses judge, differs from rules). addresses_judge!"
    )


def test_a_judgement_by_rules_alone_has_nothing_beside_it():
    found = row({"graph": graph("hub"), "judge": judged(0.8)})
    assert (found.judged_by_rules, found.flagged, doubt(found)) == (None, 0, None)
    _, ((*_, cell),) = team_table([found])
    assert cell == "0.800 rules"


@pytest.mark.parametrize(
    ("floor", "cell", "value"), [({"0": 1.0, "1": 0.0}, "0.500", 0.5), ({"0": 1.0}, "-", None)]
)
def test_a_floor_stands_beside_pass_1_only_if_it_covers_the_same_tasks(floor, cell, value):
    report = report_of(["+", "-"], floor=floor)
    header, (cells,) = score_table(report.summary)
    assert cells[header.index("floor")] == cell
    assert digest_of(report).rows[0].floor == value
