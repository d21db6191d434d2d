"""requirements.lock and pyproject.toml in step, without the network."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
PIN = re.compile(r"^(?P<requirement>[A-Za-z0-9][^\\#\n]*?)\s*\\$", re.MULTILINE)


def pinned_versions() -> dict[str, set[Version]]:
    """The versions of each package; several where Python versions differ."""
    found: dict[str, set[Version]] = {}
    for match in PIN.finditer(LOCK):
        requirement = Requirement(match["requirement"])
        [pin] = requirement.specifier
        assert pin.operator == "=="
        found.setdefault(canonicalize_name(requirement.name), set()).add(Version(pin.version))
    return found


def direct_dependencies() -> list[str]:
    """Everything that pyproject.toml names: required, extras and groups."""
    project = PYPROJECT["project"]
    extras = project["optional-dependencies"].values()
    groups = PYPROJECT["dependency-groups"].values()
    return [*project["dependencies"], *(name for names in (*extras, *groups) for name in names)]


@pytest.mark.parametrize("dependency", direct_dependencies())
def test_a_direct_dependency_is_pinned_within_its_specifier(dependency):
    wanted = Requirement(dependency)
    pinned = pinned_versions().get(canonicalize_name(wanted.name))
    assert pinned, f"{dependency} is not in requirements.lock: run `make lock`"
    wrong = [str(version) for version in pinned if not wanted.specifier.contains(version, True)]
    assert wrong == [], f"{dependency} is pinned as {wrong}: run `make lock`"


def test_every_pin_has_hashes():
    blocks = re.split(r"^(?=[A-Za-z0-9])", LOCK, flags=re.MULTILINE)
    bare = [block.splitlines()[0] for block in blocks if block.strip() and "sha256:" not in block]
    assert bare == []


def test_the_lock_names_no_address_and_no_index():
    lines = LOCK.splitlines()
    assert [line for line in lines if "://" in line or " @ " in line] == []
    assert [line for line in lines if line.startswith("-")] == []


def test_the_lock_does_not_name_the_project_itself():
    assert "greenroom" not in pinned_versions()
