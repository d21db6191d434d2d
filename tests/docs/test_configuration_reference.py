"""docs/configuration.md is partly made from the settings, by scripts/configuration_reference.py."""

import importlib.util
from pathlib import Path

import pytest
from pydantic import AliasChoices

from adk_agent.settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    path = ROOT / "scripts" / "configuration_reference.py"
    spec = importlib.util.spec_from_file_location("configuration_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_settings_as_they_are(script):
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert script.with_reference(page) == page, "run scripts/configuration_reference.py"


def test_every_variable_stands_in_one_row(script):
    rows = script.reference().splitlines()[2:]
    assert len(rows) == len(Settings.model_fields)
    for field in Settings.model_fields.values():
        alias = field.validation_alias
        for name in alias.choices if isinstance(alias, AliasChoices) else [alias]:
            assert (
                sum(row.startswith("|") and f"`{name}`" in row.split("|")[1] for row in rows) == 1
            )


def test_bounds_and_defaults_are_those_of_the_settings(script):
    [port] = [row for row in script.reference().splitlines() if row.startswith("| `PORT`")]
    assert "whole number, from 0 to 65535 | `8000` |" in port


def test_a_meaning_that_is_given_belongs_to_a_variable_that_is_read(script):
    reference = script.reference()
    for name in script.MEANINGS:
        assert f"| `{name}`" in reference


def test_a_page_without_its_two_marks_is_refused(script):
    for page in ("", script.END + script.BEGIN, script.BEGIN + script.BEGIN + script.END):
        with pytest.raises(script.PageError, match="once each and in this order"):
            script.with_reference(page)
