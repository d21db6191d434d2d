"""Push notifications: telling those who want to hear of a task, without harm to the task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
from a2a.server.tasks import PushNotificationEvent, PushNotificationSender, TaskStore
from a2a.types import StreamResponse, Task, TaskStatusUpdateEvent
from a2a.utils.proto_utils import to_stream_response

from adk_agent.core.errors import StorageError
from adk_agent.service.conversation.history import ENDED_STATES
from adk_agent.service.push_body import body_0_3, body_1_0
from adk_agent.service.receivers import Receiver, Receivers
from adk_agent.service.stores import context_of

logger = logging.getLogger(__name__)

TOKEN_HEADER = "X-A2A-Notification-Token"  # noqa: S105 - a header's name
MAX_WAITING_PER_TASK = 100
LEFT_AT_ONCE = 8
"""Tasks of an earlier service whose receivers are notified at the same time."""
_CLOSE_S = 1.0

IsAllowed = Callable[[str], Awaitable[bool]]


@dataclass(frozen=True, kw_only=True)
class _Notice:
    event: StreamResponse
    is_last: bool


class PushSender(PushNotificationSender):
    """Notifies in the background, in order and once: nothing waits for a slow or dead receiver.

    A receiver of protocol 1.0 gets the events, one of 0.3 the whole task after them. Of several
    events that wait, the latter gets the last only, which includes the others.

    Args:
        receivers: Who wants to hear of which task.
        store: Where the tasks are kept.
        client: Sends; it screens addresses, and has a short timeout.
        is_allowed: Whether a URL may be called.
    """

    def __init__(
        self,
        receivers: Receivers,
        *,
        store: TaskStore,
        client: httpx.AsyncClient,
        is_allowed: IsAllowed,
    ) -> None:
        self._receivers = receivers
        self._store = store
        self._client = client
        self._is_allowed = is_allowed
        self._waiting: dict[str, list[_Notice]] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._of_left: set[asyncio.Task[None]] = set()
        self._failed: set[tuple[str, tuple[str, str]]] = set()

    async def send_notification(self, task_id: str, event: PushNotificationEvent) -> None:
        """Queue an event for all receivers of the task."""
        try:
            if not await self._receivers.of(task_id):
                return
        except StorageError as error:
            logger.warning("task %s: nobody is notified: %s", task_id, error)
            return
        is_last = (
            isinstance(event, Task | TaskStatusUpdateEvent) and event.status.state in ENDED_STATES
        )
        waiting = self._waiting.setdefault(task_id, [])
        waiting.append(_Notice(event=to_stream_response(event), is_last=is_last))
        if len(waiting) > MAX_WAITING_PER_TASK:
            del waiting[0]  # the latest say most, and the last says how it ended
        if task_id not in self._workers:
            self._workers[task_id] = asyncio.create_task(self._work(task_id))

    async def resume(self) -> None:
        """Begin to notify the receivers that an earlier service may not have notified.

        To be called before the first task: all that is kept then is of tasks that have ended, or
        wait for an answer. Only their names are read here. Receivers are forgotten once they are
        notified of the end, or their task is gone; where this is interrupted, the next start goes on.
        """
        try:
            left = iter(await self._receivers.task_ids())
        except StorageError as error:
            logger.warning("the receivers of earlier tasks are not notified: %s", error)
            return
        self._of_left = {asyncio.create_task(self._notify_left(left)) for _ in range(LEFT_AT_ONCE)}

    async def aclose(self) -> None:
        """Wait a moment for what is queued, and close the client."""
        workers = {*self._workers.values(), *self._of_left}
        if workers:
            _, late = await asyncio.wait(workers, timeout=_CLOSE_S)
            for worker in late:
                worker.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        await self._client.aclose()

    async def _work(self, task_id: str) -> None:
        waiting = self._waiting[task_id]
        try:
            while waiting:
                notice = waiting.pop(0)
                await _logged(task_id, self._notify_all(task_id, notice, is_latest=not waiting))
                if notice.is_last:
                    await _logged(task_id, self._forget(task_id))
        finally:
            del self._waiting[task_id], self._workers[task_id]

    async def _notify_left(self, left: Iterator[str]) -> None:
        for task_id in left:
            await _logged(task_id, self._notify_end(task_id))

    async def _notify_end(self, task_id: str) -> None:
        task = await self._task_of(task_id, await self._receivers.of(task_id))
        if task is not None and task.status.state not in ENDED_STATES:
            return
        if task is not None:
            notice = _Notice(event=to_stream_response(task), is_last=True)
            await _logged(task_id, self._notify_all(task_id, notice, is_latest=True))
        await self._forget(task_id)

    async def _forget(self, task_id: str) -> None:
        self._failed = {each for each in self._failed if each[0] != task_id}
        await self._receivers.forget(task_id)

    async def _notify_all(self, task_id: str, notice: _Notice, *, is_latest: bool) -> None:
        receivers = await self._receivers.of(task_id)
        new = [each for each in receivers if each.version == "1.0"]
        old = [each for each in receivers if each.version == "0.3"] if is_latest else []
        await asyncio.gather(
            _logged(task_id, self._post_event(task_id, notice.event, new)),
            _logged(task_id, self._post_task(task_id, old, is_last=notice.is_last)),
        )

    async def _post_event(
        self, task_id: str, event: StreamResponse, receivers: list[Receiver]
    ) -> None:
        if receivers:
            body = await asyncio.to_thread(body_1_0, event)  # a report can be large
            await self._post_each(task_id, body, receivers)

    async def _post_task(self, task_id: str, receivers: list[Receiver], *, is_last: bool) -> None:
        task = await self._task_of(task_id, receivers)
        if task is None or (task.status.state in ENDED_STATES and not is_last):
            return  # it ended since, and the notice that says so is on its way
        await self._post_each(task_id, await asyncio.to_thread(body_0_3, task), receivers)

    async def _task_of(self, task_id: str, receivers: list[Receiver]) -> Task | None:
        for owner in sorted({each.owner for each in receivers}):
            task = await self._store.get(task_id, context_of(owner))
            if task is not None:
                return task
        return None

    async def _post_each(self, task_id: str, body: bytes, receivers: list[Receiver]) -> None:
        await asyncio.gather(*(self._post(task_id, each, body) for each in receivers))

    async def _post(self, task_id: str, receiver: Receiver, body: bytes) -> None:
        url = receiver.config.url
        try:
            if not await self._is_allowed(url):
                self._note(task_id, receiver, "its address may not be called")
                return
            response = await self._client.post(url, content=body, headers=_headers(receiver))
            if not response.is_success:
                self._note(task_id, receiver, f"it answered {response.status_code}")
        except Exception as error:  # noqa: BLE001 - whatever a receiver does, the task goes on
            self._note(task_id, receiver, type(error).__name__)

    def _note(self, task_id: str, receiver: Receiver, why: str) -> None:
        if (task_id, receiver.key) not in self._failed:
            self._failed.add((task_id, receiver.key))
            host = _host(receiver.config.url)
            logger.warning("task %s: a notification to %r failed: %s", task_id, host, why)


async def _logged(task_id: str, work: Awaitable[None]) -> None:
    try:
        await work
    except StorageError as error:
        logger.warning("task %s: its notifications failed: %s", task_id, error)
    except Exception:
        logger.exception("task %s: its notifications broke", task_id)


def _host(url: str) -> str | None:
    """Return the part of an address that the log shows: path and query may be secrets."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _headers(receiver: Receiver) -> dict[str, str]:
    config = receiver.config
    headers = {"Content-Type": "application/json"}
    if config.token:
        headers[TOKEN_HEADER] = config.token
    auth = config.authentication
    if auth.scheme and auth.credentials:
        headers["Authorization"] = f"{auth.scheme} {auth.credentials}"
    return headers
