"""`greenroom schema`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from adk_agent.cli.edge import OK
from adk_agent.cli.terminal import say, write_data
from adk_agent.core.files import write_whole
from adk_agent.requests.config_file.model import FILE, json_schema

SCHEMA_FILE = "greenroom.schema.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.description = f"Print the JSON Schema of {FILE}, with which editors check and complete."
    parser.epilog = f"example: greenroom schema --out {SCHEMA_FILE}"
    parser.add_argument("--out", metavar="FILE", help="a file to write; standard output by default")


def execute(parsed: argparse.Namespace) -> int:
    """Print or write the schema and return 0."""
    if parsed.out is None:
        write_data(schema_text())
    else:
        write_whole(Path(parsed.out), schema_text())
        say(parsed.out)
    return OK


def schema_text() -> str:
    """Return the text of the schema's file."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
