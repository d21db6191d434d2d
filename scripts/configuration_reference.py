"""Write the part of docs/configuration.md that is made of the settings themselves.

Names, types, bounds and defaults come from `adk_agent.core.settings.Settings`; what a variable is for is
its docstring there, or what stands here.
Run it after a setting has changed: .venv/bin/python scripts/configuration_reference.py
"""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from pathlib import Path
from typing import Any, get_args

from generated_part import GeneratedPart, PageError
from pydantic import AliasChoices, SecretStr
from pydantic.fields import FieldInfo

from adk_agent.core.settings import Settings
from tau_bridge.benchmarks import installed

MEANINGS = {
    "AGENTBEATS_LLM_API_KEY": "Key of an OpenAI-compatible endpoint; switches the model on.",
    "AGENTBEATS_LLM_BASE_URL": "Its address; any other than the default switches the model on"
    " without a key, for local servers.",
    "AGENTBEATS_LLM_MODEL": "The model's name there.",
    "GOOGLE_API_KEY": "Key for a bare Gemini name in `GREENROOM_AGENT_MODEL`.",
    "GOOGLE_GENAI_USE_VERTEXAI": "Reach Gemini through Vertex AI, with its own credentials.",
    "GREENROOM_RESULTS_DIR": "Where runs are kept.",
}


def reference() -> str:
    """Return the table of all variables, sorted by name.

    Raises:
        PageError: nothing says what a variable is for.
    """
    told = _docstrings()
    rows = [_row(name, field, told) for name, field in Settings.model_fields.items()]
    rows += [
        f"| `{name}` | text | not set | {meaning} |"
        for benchmark in installed()[0]
        for name, meaning in benchmark.variables.items()
    ]
    head = ["| environment | value | default | for |", "|---|---|---|---|"]
    return "\n".join([*head, *sorted(rows)])


def _row(name: str, field: FieldInfo, told: dict[str, str]) -> str:
    variables = _variables(field)
    meaning = MEANINGS.get(variables[0], told.get(name))
    if meaning is None:
        msg = f"nothing says what {variables[0]} is for: give Settings.{name} a docstring"
        raise PageError(msg)
    shown = " or ".join(f"`{variable}`" for variable in variables)
    return f"| {shown} | {_kind(field)} | {_default(field)} | {meaning} |"


def _variables(field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    return [str(each) for each in (alias.choices if isinstance(alias, AliasChoices) else [alias])]


def _kind(field: FieldInfo) -> str:
    types = [
        each for each in get_args(field.annotation) or [field.annotation] if each is not type(None)
    ]
    names: dict[Any, str] = {SecretStr: "secret", str: "text", int: "whole number", float: "number",
             bool: "`true` or `false`", Path: "folder"}  # fmt: skip
    kind = " or ".join(names.get(each, str(getattr(each, "__name__", each))) for each in types)
    bounds = _bounds(field)
    return f"{kind}, {bounds}" if bounds else kind


def _bounds(field: FieldInfo) -> str:
    found: dict[str, Any] = {}
    for constraint in field.metadata:
        for name in ("ge", "gt", "le", "lt"):
            if getattr(constraint, name, None) is not None:
                found[name] = getattr(constraint, name)
    words = {"ge": "from {}", "gt": "above {}", "le": "to {}", "lt": "below {}"}
    return " ".join(words[name].format(value) for name, value in found.items())


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is None or value == "":
        return "not set"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _docstrings() -> dict[str, str]:
    """Return the docstring of each field of the class, on one line."""
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(Settings))).body
    assert isinstance(definition, ast.ClassDef)  # noqa: S101 - what was parsed is the class
    found = {}
    for field, text in zip(definition.body, definition.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=value)):
                found[name] = " ".join(str(value).split())
    return found


PART = GeneratedPart("configuration.md", "configuration_reference.py", reference)

if __name__ == "__main__":
    sys.exit(PART.rewrite())
