"""What tables say of teams."""

from adk_agent.results.tables import doubt, team_table
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
