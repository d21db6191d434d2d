"""Write the table of docs/config-file.md and docs/greenroom.schema.json, both made of the model.

What a key is for is its docstring in `adk_agent.requests.config_file.model`.
Run it after a key has changed: .venv/bin/python scripts/config_file_reference.py
"""

from __future__ import annotations

import sys
from typing import Any

from generated_part import DOCS, GeneratedPart

from adk_agent.cli.schema import SCHEMA_FILE, schema_text
from adk_agent.requests.config_file.model import json_schema

_TYPES = {
    "string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`",
    "array": "list", "object": "table",
}  # fmt: skip


def reference() -> str:
    """Return the tables of all keys: those at the top, then those of each table."""
    schema = json_schema()
    parts = [_table(schema["properties"], schema["$defs"])]
    for key, value in schema["properties"].items():
        name = _reference(value)
        if name is None:
            continue
        table = schema["$defs"][name]
        table = table["anyOf"][1] if "anyOf" in table else table
        brackets = f"[[{key}]]" if value.get("type") == "array" else f"[{key}]"
        parts.append(f"### `{brackets}`\n\n{table['description']}\n")
        parts.append(_table(table["properties"], schema["$defs"]))
    return "\n\n".join(part.strip() for part in parts)


def _table(properties: dict[str, Any], definitions: dict[str, Any]) -> str:
    rows = [
        f"| `{key}` | {_kind(value, definitions)} | {value['description']} |"
        for key, value in properties.items()
    ]
    return "\n".join(["| key | value | for |", "|---|---|---|", *rows])


def _reference(value: dict[str, Any]) -> str | None:
    """Return the name of the table that a value is, or is a list of."""
    inner = value.get("items", value)
    found = inner.get("$ref") or next((each["$ref"] for each in inner.get("allOf", ())), None)
    return None if found is None else str(found).rpartition("/")[2]


def _kind(value: dict[str, Any], definitions: dict[str, Any]) -> str:
    name = _reference(value)
    if name is not None and value.get("type") != "array":
        return "table"
    if value.get("type") == "array":
        if name is None:
            return "list of texts"
        return "list of texts or tables" if "anyOf" in definitions[name] else "list of tables"
    kind = _TYPES[value["type"]]
    bounds = [
        f"{word} {value[key]}"
        for key, word in (("minimum", "from"), ("exclusiveMinimum", "above"), ("maximum", "to"))
        if key in value
    ]
    return f"{kind}, {' '.join(bounds)}" if bounds else kind


PART = GeneratedPart("config-file.md", "config_file_reference.py", reference)

if __name__ == "__main__":
    (DOCS / SCHEMA_FILE).write_text(schema_text(), encoding="utf-8")
    sys.exit(PART.rewrite())
