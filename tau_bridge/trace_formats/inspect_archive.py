"""Logs of Inspect in its own format: a zip archive with a JSON file for each sample."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tau_bridge.a2a.traceability import ReportError
from tau_bridge.errors import DataError
from tau_bridge.inspect_log import read_samples
from tau_bridge.json_texts import JsonText, parse_json
from tau_bridge.trace_formats.activities import Report
from tau_bridge.trace_formats.inspect_samples import report_of_sample

_MAGIC: Final = b"PK\x03\x04"
_SAMPLES: Final = "samples/"
_PLAIN: Final = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


def is_archive(path: Path) -> bool:
    """Tell whether a file is a zip archive, by how it begins."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def reports_in_archive(path: Path, *, max_bytes: int) -> Iterator[tuple[str, Report | ReportError]]:
    """Yield the id and the report of each sample, or why there is none; one sample at a time."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [each for each in archive.infolist() if _is_sample(each)]
            if not members:
                yield "", ReportError(f"{str(path)!r} is a zip archive without samples of Inspect")
            elif all(each.compress_type in _PLAIN for each in members):
                for member in members:
                    yield _of_member(archive, member, max_bytes)
            else:
                _require_room(members, max_bytes)
                for at, sample in enumerate(read_samples(path), 1):
                    yield report_of_sample(sample, f"sample-{at}")
    except (*_BROKEN, OSError) as exc:
        yield "", ReportError(f"{str(path)!r} is damaged: {exc}; was it copied whole?")
    except (ReportError, DataError) as exc:
        yield "", ReportError(str(exc))


def _is_sample(member: zipfile.ZipInfo) -> bool:
    return member.filename.startswith(_SAMPLES) and member.filename.endswith(".json")


def _require_room(members: list[zipfile.ZipInfo], max_bytes: int) -> None:
    for member in members:
        if member.file_size > max_bytes:
            raise ReportError(_too_long(member, max_bytes))


def _too_long(member: zipfile.ZipInfo, max_bytes: int) -> str:
    return f"{member.filename}: longer than {max_bytes / 1024 / 1024:g} MB"


def _of_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: int
) -> tuple[str, Report | ReportError]:
    fallback = member.filename.removeprefix(_SAMPLES).removesuffix(".json")
    try:
        text = _text_of(archive, member, max_bytes)
        return report_of_sample(parse_json(JsonText(line=1, text=text)).value, fallback)
    except UnicodeDecodeError as exc:
        return fallback, ReportError(f"{member.filename}: not UTF-8 ({exc.reason})")
    except (*_BROKEN, OSError) as exc:
        return fallback, ReportError(f"{member.filename} is damaged: {exc}")
    except ReportError as exc:
        return fallback, ReportError(f"{member.filename}: {exc}")


def _text_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo, max_bytes: int) -> str:
    with archive.open(member) as file:
        raw = file.read(max_bytes + 1)
    if len(raw) > max_bytes:
        raise ReportError(_too_long(member, max_bytes))
    return raw.decode("utf-8-sig")
