"""The settings that the environment may give, and those that are refused."""

import sys
from pathlib import Path

import pytest

from adk_agent.core.errors import RequestError
from adk_agent.core.models import default_spec
from adk_agent.core.settings import Settings, user_data_dir, variables


def test_an_address_of_tools_that_is_none_is_refused():
    for url in ("assessor:9020", "https://assessor", "http://a/b", "http://u@a", "http://"):
        with pytest.raises(RequestError, match="tools_url"):
            Settings.load(tools_url=url)


def test_an_empty_variable_counts_as_unset(monkeypatch):
    for name in ("AGENTBEATS_LLM_API_KEY", "AGENTBEATS_LLM_BASE_URL", "TAU2_DATA_DIR"):
        monkeypatch.setenv(name, "")
    settings = Settings.load()
    assert default_spec(settings) is None
    assert variables(["TAU2_DATA_DIR"]) == {}


def test_fetched_data_are_in_the_users_folder_for_data_unless_one_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GREENROOM_DATA_DIR")
    places = {
        "": tmp_path / ".local" / "share" / "greenroom",
        "relative": tmp_path / ".local" / "share" / "greenroom",
        "/data": Path("/data/greenroom"),
    }
    for named, expected in places.items():
        monkeypatch.setenv("XDG_DATA_HOME", named)
        assert variables(["GREENROOM_DATA_DIR"]) == {"GREENROOM_DATA_DIR": str(expected)}
    monkeypatch.setattr(sys, "platform", "darwin")
    assert user_data_dir() == tmp_path / "Library" / "Application Support" / "greenroom"
    monkeypatch.setenv("GREENROOM_DATA_DIR", "/mine")
    assert variables(["GREENROOM_DATA_DIR"]) == {"GREENROOM_DATA_DIR": "/mine"}


def test_a_user_without_a_home_has_no_folder_for_data(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("GREENROOM_DATA_DIR")
    monkeypatch.setenv("HOME", "/nowhere")
    assert variables(["GREENROOM_DATA_DIR"]) == {}
    monkeypatch.setattr(Path, "home", homeless)
    assert variables(["GREENROOM_DATA_DIR"]) == {}
