"""The arrows that import-linter cannot draw; those that it can are in pyproject.toml."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("adk_agent", "evals", "tau_bridge", "purple_agent")
# import-linter sees an external package as a whole, and `google` and `a2a` are many things.
ONLY_IN = {
    "google.adk": ("adk_agent/workflow/",),
    "a2a.server": (
        "adk_agent/service/",
        "tau_bridge/testing/",
        "tau_bridge/a2a/proxy/",
        "purple_agent/",
    ),
    "litellm": ("adk_agent/core/models.py", "purple_agent/minds/"),
}


def imported(path):
    """Every module that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@pytest.mark.parametrize("library", ONLY_IN)
def test_a_library_is_imported_in_its_own_place_only(library):
    users = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if any(name == library or name.startswith(f"{library}.") for name in imported(path))
    }
    assert users
    assert not [user for user in users if not user.startswith(ONLY_IN[library])]


def test_every_folder_says_what_lives_there():
    silent = [
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("__init__.py")
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not silent
