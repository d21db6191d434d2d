"""Places that tests fetch from and into."""

import pytest

from tau_bridge.data_sets.store import DataStore
from tests.tau_bridge.data_sets.shop import Fetching, GitRepository


@pytest.fixture
def fetching(tmp_path):
    return Fetching(DataStore(tmp_path / "fetched", "shop"))


@pytest.fixture
def archive(tmp_path):
    """Writes an archive, and returns its path."""

    def write(content, name="shop.tar.gz"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    return GitRepository(folder)
