"""The pytest plug-in: fixtures that evaluate an agent and say what its score must be.

pytest imports this module at every start, whatever it tests, so that it imports nothing itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from greenroom.checked import AsyncEvaluator, Evaluator

MARKER = (
    "greenroom(domain, **options): what the fixtures greenroom_evaluate and greenroom_aevaluate "
    "evaluate on: a benchmark, domain or task file, and options of greenroom.evaluate"
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def greenroom_evaluate(request: pytest.FixtureRequest) -> Evaluator:
    """Evaluate an agent, and return a `greenroom.checked.Checked` with assertions."""
    from greenroom.checked import Evaluator

    return Evaluator(_marked(request), request.config.invocation_params.dir)


@pytest.fixture
def greenroom_aevaluate(request: pytest.FixtureRequest) -> AsyncEvaluator:
    """Evaluate an agent as `greenroom_evaluate` does, awaited, in a test that is a coroutine."""
    from greenroom.checked import AsyncEvaluator

    return AsyncEvaluator(_marked(request), request.config.invocation_params.dir)


def _marked(request: pytest.FixtureRequest) -> dict[str, object]:
    """Return what the markers say; that of the test itself counts before its class and module."""
    options: dict[str, object] = {}
    for mark in request.node.iter_markers("greenroom"):
        if mark.args:
            raise pytest.UsageError(
                f"@pytest.mark.greenroom takes names: write domain={mark.args[0]!r}"
            )
        options = {**mark.kwargs, **options}
    return options
