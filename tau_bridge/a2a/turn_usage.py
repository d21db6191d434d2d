"""TurnUsage: what an agent reports to have used in one turn, each report counted once. Pure.

google-adk reports for each of its events, so the reports of a turn are added up. But one report may
arrive several times: in an update and in the task that is fetched later, in the status and in the
history. So each has a place, and a place counts once, with its last report:

- an artifact, by its id: chunks that are appended, and the update that brings them, belong to it;
- a message, by its id: in the status, in the history or on its own, with the update around it;
- an update of the status without a message;
- google-adk's events, by their id: one event may become several messages.

A server copies the metadata of updates into the task, where a later one takes the place of an
earlier one. So the task's own metadata count only if nothing else in the turn reports anything. A
task that goes on in the next turn is sent whole again; what it reported before is not new then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from a2a.types import Role

from tau_bridge.a2a.usage import ReportedUsage, is_usage_key, read_usage
from tau_bridge.integers import restore_integers

if TYPE_CHECKING:
    from a2a.types import Artifact, Message, StreamResponse, Task, TaskStatusUpdateEvent

Place = tuple[str, str]
"""The kind of a place, and its id."""

_TASK: Final[Place] = ("task", "")
_ADK_EVENT: Final = "adk_event_id"


class TurnUsage:
    """Takes the events of one turn.

    Args:
        known: The reports of earlier turns of a task that goes on.
        earlier: Those of messages in all earlier turns. Another task may have them in its history.
    """

    def __init__(
        self,
        known: Mapping[Place, ReportedUsage] | None = None,
        earlier: Mapping[Place, ReportedUsage] | None = None,
    ) -> None:
        self._known = dict(known or {})
        self._earlier = dict(earlier or {})
        self._found: dict[Place, ReportedUsage] = {}
        self._of_task: ReportedUsage | None = None
        self._adk_events: dict[str, Place] = {}
        self._updates = 0

    def add(self, event: StreamResponse) -> None:
        """Take in one event."""
        if event.HasField("message"):
            self._add_message(event.message)
        elif event.HasField("task"):
            self._add_task(event.task)
        elif event.HasField("status_update"):
            self._add_status_update(event.status_update)
        elif event.HasField("artifact_update"):
            update = event.artifact_update
            self._add_artifact(update.artifact, update)

    def total(self) -> ReportedUsage:
        """Return what the turn used, as reported so far."""
        found = list(self._found.values())
        if self._of_task is not None and not any(usage.is_known for usage in found):
            found.append(self._of_task)
        return sum(found, start=ReportedUsage())

    def of_messages(self) -> dict[Place, ReportedUsage]:
        """Return the reports of messages, to recognize them in the history of a later task."""
        found = ((place, usage) for place, usage in self._found.items() if place[0] == "message")
        return {**self._earlier, **{place: usage for place, usage in found if place[1]}}

    def places(self) -> dict[Place, ReportedUsage]:
        """Return all reports, to recognize them in the next turn of the same task."""
        of_task = {} if self._of_task is None else {_TASK: self._of_task}
        return {**self._known, **self._found, **of_task}

    def _add_status_update(self, update: TaskStatusUpdateEvent) -> None:
        if update.status.HasField("message"):
            self._add_message(update.status.message, update)
        else:
            self._updates += 1
            self._take(("update", str(self._updates)), update)

    def _add_message(self, message: Message, *around: Any, again: bool = False) -> None:
        self._take(("message", message.message_id), message, *around, again=again)

    def _add_artifact(self, artifact: Artifact, *around: Any, again: bool = False) -> None:
        self._take(("artifact", artifact.artifact_id), artifact, *around, again=again)

    def _add_task(self, task: Task) -> None:
        for artifact in task.artifacts:
            self._add_artifact(artifact, again=True)
        for message in _answers(task):
            place = "message", message.message_id
            if place not in self._earlier or self._earlier[place] != _usage(message):
                self._add_message(message, again=True)
        if task.status.HasField("message"):
            self._add_message(task.status.message, again=True)
        usage = _usage(task)
        if usage is not None and usage != self._known.get(_TASK):
            self._of_task = usage

    def _take(self, place: Place, *holders: Any, again: bool = False) -> None:
        """Take the first report of some holders, which belong to one place.

        Args:
            place: Where it stands.
            holders: Have metadata: a message or an artifact, and the update around it.
            again: The place may be one of an earlier turn.
        """
        for holder in holders:
            usage = _usage(holder)
            if usage is None:
                continue
            event_id = _adk_event_id(holder)
            if event_id:
                place = self._adk_events.setdefault(event_id, place)
            if again and self._known.get(place) == usage:
                return
            if usage.is_known or place not in self._found:
                self._found[place] = usage
            return


def _answers(task: Task) -> Iterator[Message]:
    """Yield the agent's messages since the user's last one; its history begins with that one."""
    answers: list[Message] = []
    for message in task.history:
        if message.role == Role.ROLE_USER:
            answers.clear()
        else:
            answers.append(message)
    yield from answers


def _usage(holder: Any) -> ReportedUsage | None:
    """Read the usage of a message, artifact, task or update; None where it has none."""
    if not holder.HasField("metadata"):
        return None
    fields = holder.metadata.fields
    found = {key: _plain(value) for key, value in fields.items() if is_usage_key(key)}
    usage = read_usage(found) if found else None
    return usage if usage is not None and (usage.is_known or usage.ignored) else None


def _adk_event_id(holder: Any) -> str:
    fields = holder.metadata.fields
    return fields[_ADK_EVENT].string_value if _ADK_EVENT in fields else ""


def _plain(value: Any, *, nested: bool = False) -> Any:
    """Return a value of metadata as plain Python; what is nested deeper than a usage is left empty."""
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        held = value.struct_value.fields.items()
        return {} if nested else {key: _plain(each, nested=True) for key, each in held}
    if kind in (None, "null_value"):
        return None
    return [] if kind == "list_value" else restore_integers(getattr(value, kind))
