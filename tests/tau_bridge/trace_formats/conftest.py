from pathlib import Path

import pytest

from tau_bridge.trace_file import read_trace_file

RECORDED = Path(__file__).parent / "data"
"""Written by the real instrumentations of a small team with scripted models, and shortened."""


@pytest.fixture
def recorded():
    """Reads one of the recorded files."""
    return lambda name, **options: list(read_trace_file(RECORDED / name, **options))
