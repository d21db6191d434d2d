"""docs/config-file.md and docs/greenroom.schema.json are made from the model of the file."""

import tomllib
from pathlib import Path

import jsonschema
from config_file_reference import PART

from adk_agent.cli.schema import SCHEMA_FILE, schema_text
from adk_agent.requests.config_file.model import json_schema

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_and_the_published_schema_have_the_keys_as_they_are():
    page = (DOCS / "config-file.md").read_text(encoding="utf-8")
    assert PART.within(page) == page, "run scripts/config_file_reference.py"
    assert (DOCS / SCHEMA_FILE).read_text(encoding="utf-8") == schema_text()


def test_the_files_that_the_page_shows_fit_the_schema():
    page = (DOCS / "config-file.md").read_text(encoding="utf-8")
    shown = [block.split("```")[0] for block in page.split("```toml\n")[1:]]
    assert shown
    for text in shown:
        jsonschema.validate(tomllib.loads(text), json_schema())
