import pytest

from tau_bridge.benchmarks import open_benchmarks


@pytest.fixture(scope="session")
def benchmarks():
    return open_benchmarks(lambda _: {})
