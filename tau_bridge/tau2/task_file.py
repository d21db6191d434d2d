"""TaskFile: the tasks of one `tasks.json`, parsed when they are asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from tau_bridge.errors import DataError, UnknownTaskError
from tau_bridge.tau2.tasks import Task, parse_task

_GAP = re.compile(r"[\s,]*")


class TaskFile(Mapping[str, Task]):
    """Tasks by id, in the order of the file.

    Only the text of each task is kept: telecom has 2,285 tasks in 14 MB, of which a run uses a
    few.

    Raises:
        DataError: The content is not such an array.
    """

    def __init__(self, domain: str, content: bytes) -> None:
        self.domain = domain
        self._texts = _split(domain, content)

    def __getitem__(self, task_id: str) -> Task:
        if task_id not in self._texts:
            raise KeyError(task_id)
        try:
            return parse_task(json.loads(self._texts[task_id]))
        except ValidationError as exc:
            raise DataError(
                f"task {task_id!r} of domain {self.domain!r} is not a τ² task: {exc}"
            ) from exc

    def __contains__(self, task_id: object) -> bool:
        return task_id in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def require(self, task_id: str) -> Task:
        """Return the task of this id.

        Raises:
            UnknownTaskError: No task has this id.
            DataError: Its record is invalid.
        """
        if task_id not in self._texts:
            raise UnknownTaskError(self.domain, task_id, self._texts)
        return self[task_id]

    def record(self, task_id: str) -> dict[str, Any]:
        """Return a task as the file has it, with fields that nothing here reads.

        Raises:
            UnknownTaskError: No task has this id.
        """
        if task_id not in self._texts:
            raise UnknownTaskError(self.domain, task_id, self._texts)
        record: dict[str, Any] = json.loads(self._texts[task_id])
        return record


def _split(domain: str, content: bytes) -> dict[str, bytes]:
    decoder = json.JSONDecoder()
    texts: dict[str, bytes] = {}
    try:
        text = content.decode()
        start = _skip(text, 0)
        if text[start : start + 1] != "[":
            raise ValueError("it is not a list")  # noqa: TRY301 - reported with the file below
        start = _skip(text, start + 1)
        while text[start] != "]":
            record, end = decoder.raw_decode(text, start)
            texts[_id_of(record)] = text[start:end].encode()
            start = _skip(text, end)
    except (ValueError, IndexError, RecursionError) as exc:
        raise DataError(f"the task file of domain {domain!r} cannot be read: {exc}") from exc
    return texts


def _skip(text: str, position: int) -> int:
    gap = _GAP.match(text, position)
    return gap.end() if gap is not None else position


def _id_of(record: Any) -> str:
    if not isinstance(record, dict) or "id" not in record:
        raise ValueError("it holds something else than tasks with an id")
    return str(record["id"])
