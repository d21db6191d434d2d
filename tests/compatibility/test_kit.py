"""The kit itself, where there is a checkout of it; otherwise how its results are compared."""

import os

import pytest

from tests.compatibility import kit

KIT, PYTHON = "A2A_TCK_DIR", "A2A_TCK_PYTHON"


@pytest.mark.slow
@pytest.mark.timeout(1200)  # the kit waits for streams, some 130 s for each server
@pytest.mark.skipif(KIT not in os.environ, reason=f"{KIT} names no checkout of the A2A kit")
@pytest.mark.skipif(PYTHON not in os.environ, reason=f"{PYTHON} names no Python with its packages")
def test_what_a2a_sdk_passes_the_product_passes():
    assert kit.main([os.environ[KIT], "--python", os.environ[PYTHON]]) == 0


def report(folder, name, **ended):
    inner = {"passed": "", "failed": "<failure/>", "skipped": "<skipped/>"}
    cases = [
        f'<testcase classname="t" name="{test}">{inner[how]}</testcase>'
        for test, how in ended.items()
    ]
    path = folder / name
    path.write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    return kit.results(path)


def test_what_only_the_bare_server_passes_is_worse(tmp_path):
    ours = report(tmp_path, "a", a="passed", b="failed", c="failed", d="skipped", e="failed")
    bare = report(tmp_path, "b", a="failed", b="passed", c="failed", d="passed", e="skipped")
    assert kit.worse(ours, bare) == ["t::b"]
    assert kit.counts(ours) == "3 failure, 1 passed, 1 skipped"


def test_what_is_explained_is_not_worse():
    ours = {"x::test_must_requirement[CORE-SEND-003-grpc]": "failure"}
    assert kit.worse(ours, dict.fromkeys(ours, "passed")) == []


def test_a_folder_that_is_no_checkout_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        kit.main([str(tmp_path)])
    assert ended.value.code == 2
    assert "is no checkout of the kit" in capsys.readouterr().err
