"""`greenroom regrade`: files that cannot be regraded."""

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("quick_start")

INSTALLED = sys.executable


def test_a_file_to_regrade_that_is_none_is_exit_2(greenroom, assert_complains, tmp_path):
    assert_complains(greenroom("regrade", tmp_path / "missing.json"), 2, "missing.json")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    assert_complains(greenroom("regrade", broken, python=INSTALLED), 2, "broken.json")
    assert Path(broken).read_text() == "{"
