"""`greenroom schema`."""

from __future__ import annotations

import argparse
import json
import sys

from adk_agent.cli.edge import OK
from adk_agent.requests.config_file.model import FILE, json_schema

SCHEMA_FILE = "greenroom.schema.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command; it has no arguments."""
    parser.description = f"Print the JSON Schema of {FILE}, with which editors check and complete."
    parser.epilog = f"example: greenroom schema > {SCHEMA_FILE}"


def execute(parsed: argparse.Namespace) -> int:
    """Print the schema and return 0."""
    del parsed
    sys.stdout.write(schema_text())
    return OK


def schema_text() -> str:
    """Return the text of the schema's file."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
