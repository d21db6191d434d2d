"""What a run says of itself on disk."""

import pytest

from adk_agent.core.errors import RequestError
from adk_agent.runs.tracking import read_status


def test_an_id_that_is_too_long_for_a_folder_is_no_run(tmp_path):
    with pytest.raises(RequestError, match="not the id of a run"):
        read_status(tmp_path, "x" * 5_000)
