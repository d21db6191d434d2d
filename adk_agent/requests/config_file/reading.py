"""Reads `greenroom.toml`; what is wrong with it is named with its line, all at once."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adk_agent.core.errors import RequestError
from adk_agent.core.files import storage
from adk_agent.requests.config_file.complaints import complaints
from adk_agent.requests.config_file.lines import Place, line_of
from adk_agent.requests.config_file.model import ConfigFile

MAX_BYTES = 100_000
_AT = re.compile(r" \(at line (\d+), column \d+\)$")
_HINTS = (
    ("Invalid value", "; put a text in double quotation marks"),
    ("Expected '=' after a key", "; write key = value, a text in double quotation marks"),
    ("Cannot overwrite", "; a key or table stands there twice"),
    ("Cannot declare", "; a table stands there twice"),
    ("Cannot mutate", "; write it as a list or as tables, not both"),
)


@dataclass(frozen=True, kw_only=True)
class LoadedConfig:
    """A configuration file that was read.

    Args:
        path: The file.
        text: Its text.
        content: What it says.
    """

    path: Path
    text: str
    content: ConfigFile

    def beside(self, name: str) -> Path:
        """Return the path of a file that this one names; relative ones begin at its folder."""
        return self.path.parent / Path(name).expanduser()

    def error(self, place: Place, problem: str) -> RequestError:
        """Return the error for a problem at a place of the file."""
        return RequestError(f"{self.path}, line {line_of(self.text, place)}: {problem}")


def read_config(path: Path) -> LoadedConfig:
    """Read a configuration file.

    Raises:
        RequestError: It cannot be used; the message has a line for each problem.
        StorageError: It cannot be read.
    """
    text = _text(path)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RequestError(_not_toml(path, str(error))) from error
    except RecursionError as error:
        raise RequestError(f"{path}: it is nested too deeply") from error
    try:
        # JSON is read strictly, and still takes a list for a tuple.
        content = ConfigFile.model_validate_json(json.dumps(data, default=str))
    except ValidationError as error:
        found = [(line_of(text, place), problem) for place, problem in complaints(error, data)]
        raise RequestError(_worded(path, sorted(found))) from error
    return LoadedConfig(path=path, text=text, content=content)


def _text(path: Path) -> str:
    if path.is_dir():
        raise RequestError(f"--config: {str(path)!r} is a folder; name a file")
    if not path.exists():
        raise RequestError(f"--config: there is no file {str(path)!r}; greenroom init writes one")
    with storage(path):
        content = path.read_bytes()
    if len(content) > MAX_BYTES:
        raise RequestError(f"{path}: larger than {MAX_BYTES // 1000} kB")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RequestError(f"{path}, line {line}: not a text in UTF-8; save it as UTF-8") from error


def _not_toml(path: Path, problem: str) -> str:
    at = _AT.search(problem)
    where = f", line {at[1]}" if at else ""
    hint = next((text for start, text in _HINTS if problem.startswith(start)), "")
    return f"{path}{where}: not TOML: {_AT.sub('', problem)}{hint}"


def _worded(path: Path, found: list[tuple[int, str]]) -> str:
    if len(found) == 1:
        return f"{path}, line {found[0][0]}: {found[0][1]}"
    lines: list[Any] = [f"  line {line}: {problem}" for line, problem in found]
    return "\n".join([f"{path} has {len(found)} errors:", *lines])
