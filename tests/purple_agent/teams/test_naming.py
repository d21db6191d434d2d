"""Names of teams with faults, and when faults strike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purple_agent.__main__ import main
from purple_agent.errors import TeamNameError
from purple_agent.teams.naming import parse_team, strikes
from purple_agent.teams.plan import Fault, FaultKind


def test_a_name_adds_its_faults_to_the_teams_own():
    team = parse_team("team:degraded4+slow:lead+drop:orders@0.25")
    assert team.name == "degraded4"
    assert team.faults == (
        Fault(kind=FaultKind.FAIL, member="policy"),
        Fault(kind=FaultKind.SLOW, member="lead"),
        Fault(kind=FaultKind.DROP, member="orders", share=0.25),
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("team:star4", r"unknown team 'star4' .*did you mean 'star5'"),
        ("team:", r"unknown team ''.*known: 'bridge6'"),
        ("team:star5+", r"cannot read '' .*\+KIND:MEMBER@SHARE"),
        ("team:star5+fail", r"cannot read 'fail'"),
        ("team:star5+fial:orders", r"unknown fault 'fial'.*did you mean 'fail'"),
        ("team:star5+fail:order", r"unknown member 'order' of team 'star5'.*'orders'"),
        ("team:star5+fail:orders@", r"a share is a number from 0 to 1, got ''"),
        ("team:star5+fail:orders@1.1", r"got '1\.1'"),
        ("team:star5+fail:orders@nan", r"got 'nan'"),
    ],
)
def test_a_name_that_cannot_be_used_says_what_is_wrong(name, message, capsys):
    with pytest.raises(TeamNameError, match=message):
        parse_team(name)
    assert main([name]) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize("arguments", [["team:star5"], ["null", "--announce"]])
def test_wiring_is_for_announced_teams(arguments, capsys):
    assert main([*arguments, "--wire"]) == 2
    assert "--wire is for teams" in capsys.readouterr().err


@given(st.integers(), st.integers(min_value=1), st.sampled_from(FaultKind))
def test_a_share_of_one_always_strikes_and_one_of_nothing_never(seed, number, kind):
    always, never = (Fault(kind=kind, member="a", share=share) for share in (1.0, 0.0))
    assert strikes([always], seed=seed, member="a", number=number) == {kind}
    assert strikes([never], seed=seed, member="a", number=number) == set()
    assert strikes([always], seed=seed, member="b", number=number) == set()


@given(st.integers())
def test_a_share_is_about_how_often_a_fault_strikes_and_a_greater_one_strikes_more(seed):
    def struck(share):
        faults = [Fault(kind=FaultKind.FAIL, member="a", share=share)]
        return {n for n in range(400) if strikes(faults, seed=seed, member="a", number=n)}

    assert 50 < len(struck(0.25)) < 160
    assert struck(0.25) < struck(0.5)
