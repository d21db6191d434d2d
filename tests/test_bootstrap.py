"""`scripts/bootstrap.py`: uv on a machine that has only python3."""

import importlib.util
import tomllib
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "bootstrap.py"
TOOLS = Path("tools")


@pytest.fixture(scope="module")
def bootstrap():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("bootstrap", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_virtual_environment_gets_the_pinned_uv(bootstrap):
    make, install = bootstrap.install_commands("py", TOOLS, has_venv=True, has_pip=False)
    assert make == ["py", "-m", "venv", "tools"]
    assert install[0] == "tools/bin/python"
    assert install[-1] == f"uv=={bootstrap.UV_VERSION}"


def test_without_ensurepip_the_machines_own_pip_serves(bootstrap):
    [install] = bootstrap.install_commands("py", TOOLS, has_venv=False, has_pip=True)
    assert install[:4] == ["py", "-m", "pip", "install"]
    assert install[install.index("--target") + 1] == "tools"


def test_with_neither_the_missing_package_is_named(bootstrap):
    with pytest.raises(bootstrap.BootstrapError, match="apt-get install python3-venv"):
        bootstrap.install_commands("py", TOOLS, has_venv=False, has_pip=False)


def test_an_old_python_is_refused_with_its_version(bootstrap, monkeypatch, capsys):
    monkeypatch.setattr(bootstrap, "MIN_PYTHON", (99, 0))
    assert bootstrap.main() == 1
    said = capsys.readouterr().err
    assert "or later is needed" in said
    assert "make PYTHON=" in said


def test_a_check_of_the_interpreter_installs_nothing(bootstrap, monkeypatch):
    monkeypatch.setattr(bootstrap, "TOOLS", Path("/dev/null/tools"))
    assert bootstrap.main(["--check"]) == 0


def test_the_floor_of_python_is_the_one_that_is_declared(bootstrap):
    project = tomllib.loads((SCRIPT.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    floor = ".".join(map(str, bootstrap.MIN_PYTHON))
    assert project["requires-python"].startswith(f">={floor},")
