import textwrap

import pytest

from tau_bridge.task_files.model import load


@pytest.fixture
def write(tmp_path):
    """Writes a file, and returns its path."""

    def written(text, name="returns.yaml"):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
        return path

    return written


@pytest.fixture
def read(write):
    """Writes a file and reads it."""
    return lambda text, name="returns.yaml": load(write(text, name))
