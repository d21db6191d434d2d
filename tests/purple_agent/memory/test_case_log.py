"""The case memory as a file to pass on."""

import pytest

from purple_agent.memory.case_log import MAX_BYTES, CaseLogError, export_log, import_log, read_log
from purple_agent.memory.cases import CaseMemory, CaseRecord


def record(request, *, answer="done", quality=0.5):
    return CaseRecord(request=request, answer=answer, process="general", quality=quality)


@pytest.fixture
def memory(tmp_path):
    return CaseMemory(tmp_path / "cases.db")


def test_a_log_that_is_exported_can_be_imported_elsewhere(memory, tmp_path):
    memory.add(record("one case"), record("another case", quality=1.0))
    assert export_log(memory, tmp_path / "case_log.json") == 2
    other = CaseMemory(tmp_path / "other.db")
    assert import_log(other, tmp_path / "case_log.json") == 2
    assert other.cases() == memory.cases()


def test_an_imported_log_is_masked(memory, tmp_path):
    log = tmp_path / "case_log.json"
    log.write_text(
        '[{"request": "expense EXP-1042", "answer": "ok", "process": "p", "quality": 1}]'
    )
    import_log(memory, log)
    assert memory.cases()[0].request == "expense <id>"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{}", "not a list of cases: at its beginning"),
        (b"[{]", "not a list of cases"),
        (b'[{"request": 5, "answer": "", "process": "", "quality": 1}]', "at 0.request"),
        (b'[{"request": "", "answer": "", "process": "", "quality": 2}]', "at 0.quality"),
        (b" " * (MAX_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_is_no_log_is_refused_with_the_place(tmp_path, content, problem):
    log = tmp_path / "case_log.json"
    log.write_bytes(content)
    with pytest.raises(CaseLogError, match=problem):
        read_log(log)


def test_a_log_that_is_missing_is_named(tmp_path):
    with pytest.raises(CaseLogError, match=r"case_log\.json"):
        read_log(tmp_path / "case_log.json")
