"""τ²-bench data for tests: a small folder of our own, the installed package, official data."""

import importlib.util
import json
import os
from pathlib import Path

import pytest

from tau_bridge.tau2.data import open_source
from tau_bridge.tau2.domains import load_domain

# Read here, because single tests run without the settings of the machine.
OFFICIAL_FOLDER = os.environ.get("TAU2_DATA_DIR")

MOCK_DATABASE = {
    "tasks": {
        "task_1": {
            "task_id": "task_1",
            "title": "Water the plants",
            "description": None,
            "status": "pending",
        }
    },
    "users": {"user_1": {"user_id": "user_1", "name": "Ada", "tasks": ["task_1"]}},
}


@pytest.fixture(scope="session")
def mock_folder(tmp_path_factory):
    """A data folder in the official layout with nothing but a mock domain of ours."""
    root = tmp_path_factory.mktemp("data")
    domain = root / "tau2" / "domains" / "mock"
    domain.mkdir(parents=True)
    tasks = [
        {"id": name, "user_scenario": {"instructions": f"Do {name}."}} for name in ("b", "a", "c")
    ]
    (domain / "tasks.json").write_text(json.dumps(tasks, indent=2))
    (domain / "split_tasks.json").write_text(json.dumps({"base": ["a", "b"], "late": ["c"]}))
    (domain / "db.json").write_text(json.dumps(MOCK_DATABASE))
    (domain / "policy.md").write_text("Be kind.")
    (domain / "policy_solo.md").write_text("Be quick.")
    return root


@pytest.fixture(scope="session")
def mock(mock_folder):
    """The mock domain over our folder; it needs no package beside."""
    return load_domain(open_source(mock_folder), "mock")


@pytest.fixture(scope="session")
def package_source():
    if importlib.util.find_spec("inspect_evals") is None:
        pytest.skip("inspect-evals is not installed: install the extra `tau2` (`make setup` does)")
    return open_source(None)


@pytest.fixture(scope="session")
def official_source():
    if not OFFICIAL_FOLDER:
        pytest.skip("TAU2_DATA_DIR is not set")
    return open_source(Path(OFFICIAL_FOLDER))


@pytest.fixture(scope="session")
def telecom(package_source):
    return load_domain(package_source, "telecom")


@pytest.fixture(scope="session")
def retail(package_source):
    return load_domain(package_source, "retail")


@pytest.fixture(scope="session")
def airline(package_source):
    return load_domain(package_source, "airline")
