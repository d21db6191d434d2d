"""docs/configuration.md is partly made from the settings, by scripts/configuration_reference.py."""

from pathlib import Path

import configuration_reference
import pytest
from configuration_reference import PART
from generated_part import PageError
from pydantic import AliasChoices

from adk_agent.core.settings import Settings
from tau_bridge.benchmarks import installed

ROOT = Path(__file__).parents[2]


def test_the_page_has_the_settings_as_they_are():
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert PART.within(page) == page, "run scripts/configuration_reference.py"


def test_every_variable_stands_in_one_row():
    rows = configuration_reference.reference().splitlines()[2:]
    of_benchmarks = [name for each in installed()[0] for name in each.variables]
    assert len(rows) == len(Settings.model_fields) + len(of_benchmarks)
    for field in Settings.model_fields.values():
        alias = field.validation_alias
        for name in alias.choices if isinstance(alias, AliasChoices) else [alias]:
            assert (
                sum(row.startswith("|") and f"`{name}`" in row.split("|")[1] for row in rows) == 1
            )


def test_bounds_and_defaults_are_those_of_the_settings():
    [port] = [
        row
        for row in configuration_reference.reference().splitlines()
        if row.startswith("| `PORT`")
    ]
    assert "whole number, from 0 to 65535 | `8000` |" in port


def test_a_meaning_that_is_given_belongs_to_a_variable_that_is_read():
    reference = configuration_reference.reference()
    for name in configuration_reference.MEANINGS:
        assert f"| `{name}`" in reference


def test_a_page_without_its_two_marks_is_refused():
    for page in ("", PART.end + PART.begin, PART.begin + PART.begin + PART.end):
        with pytest.raises(PageError, match="once each and in this order"):
            PART.within(page)
