"""Trials that broke off, or that the agent ended."""

import pytest

from evals.diagnosis import diagnose_broken
from evals.outcome import AgentErrorEnd, Failed


@pytest.mark.parametrize(
    ("fault", "reason", "kind"),
    [
        ("user", "UserModelError: no", "user_simulator"),
        ("infrastructure", "AgentUnreachableError: no", "infrastructure"),
        ("harness", "KeyError: 'x'", "harness"),
    ],
)
def test_a_failed_trial_is_diagnosed_by_its_fault(fault, reason, kind):
    found = diagnose_broken(Failed(reason=reason, fault=fault))
    assert (found.kind, found.side, found.summary) == (kind, fault, f"{reason}.")


@pytest.mark.parametrize("kind", ["agent_error", "gave_up", "no_reply"])
def test_a_trial_that_the_agent_ended_is_diagnosed_by_how_and_quotes_it(kind):
    found = diagnose_broken(AgentErrorEnd(kind=kind, text="KeyError: 'x' (it failed its task)"))
    assert (found.kind, found.side) == (kind, "agent")
    assert found.summary == "KeyError: 'x' (it failed its task)."
