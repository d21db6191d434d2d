"""`case_log.json`: the case memory as a file to read, share and import."""

from __future__ import annotations

from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from purple_agent.errors import UsageError
from purple_agent.memory.cases import CAPACITY, CaseMemory, CaseRecord

MAX_BYTES = 8 * 2**20
_LOG = TypeAdapter(list[CaseRecord])


class CaseLogError(UsageError):
    """A case log cannot be read or written. The message says which."""


def export_log(memory: CaseMemory, path: Path) -> int:
    """Write all cases, oldest first, as a JSON list; return their number.

    Each is an object with `request`, `answer`, `process` and `quality`.

    Raises:
        CaseMemoryError: The memory cannot be read.
        CaseLogError: The file cannot be written.
    """
    cases = list(memory.cases())
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_bytes(_LOG.dump_json(cases, indent=2, ensure_ascii=False) + b"\n")
        new.replace(path)
    except OSError as exc:
        raise CaseLogError(f"the case log {str(path)!r} cannot be written: {exc}") from exc
    return len(cases)


def import_log(memory: CaseMemory, path: Path) -> int:
    """Add the cases of a log to the memory, masked again; return their number.

    If the log has more cases than the memory holds, the last ones are taken.

    Raises:
        CaseLogError: The file cannot be read, or is not a case log.
        CaseMemoryError: The memory cannot be written.
    """
    cases = read_log(path)[-CAPACITY:]
    memory.add(*cases)
    return len(cases)


def read_log(path: Path) -> list[CaseRecord]:
    """Return the cases of a log, oldest first.

    Raises:
        CaseLogError: The file cannot be read, is larger than 8 MiB, or is not a case log.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as exc:
        raise CaseLogError(f"the case log {str(path)!r} cannot be read: {exc}") from exc
    if len(content) > MAX_BYTES:
        raise CaseLogError(f"the case log {str(path)!r} is larger than {MAX_BYTES:,} bytes")
    try:
        return _LOG.validate_json(content)
    except ValidationError as exc:
        first = exc.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "its beginning"
        raise CaseLogError(
            f"the case log {str(path)!r} is not a list of cases: at {place}: {first['msg']}"
        ) from exc
