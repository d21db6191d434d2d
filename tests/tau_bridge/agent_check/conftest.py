from dataclasses import replace

import pytest

from tau_bridge.a2a.address import AgentAddress
from tau_bridge.a2a.credentials import NONE
from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.policy import NetworkPolicy
from tau_bridge.agent_check.checking import check_agent
from tau_bridge.agent_check.sending import Target
from tau_bridge.clock import Runtime
from tests.fakes import serve

LIMITS = MessengerLimits(retry_wait_s=0.001, settle_s=0.01, poll_interval_s=0.001)


@pytest.fixture
def target():
    """Makes the target of a check."""

    def make(url, **changes):
        return replace(
            Target(
                address=AgentAddress.parse(url),
                credentials=NONE,
                limits=LIMITS,
                policy=NetworkPolicy.open(),
                runtime=Runtime.system(),
            ),
            **changes,
        )

    return make


@pytest.fixture
def check(target):
    """Serves an app and checks it."""

    async def run(app, *, path="", keys=(), **changes):
        with serve(app) as url:
            return await check_agent(target(url + path, **changes), keys=keys)

    return run


@pytest.fixture
def statuses():
    """The checks of a result that are not `ok` or skipped, by name."""

    def of(result):
        return {
            each.name: each.status for each in result.checks if each.status not in ("ok", "skipped")
        }

    return of


@pytest.fixture
def of():
    """The findings of one check, as text."""

    def find(result, name):
        check = next(each for each in result.checks if each.name == name)
        return "\n".join(f"{each.status}: {each.found} -> {each.advice}" for each in check.findings)

    return find
