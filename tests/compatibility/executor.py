"""An executor whose work is chosen by the start of the message id, as the TCK wants it.

The A2A technology compatibility kit tells the system under test what to do by the message id:
`tck-complete-task-...` completes a task, `tck-input-required-...` asks for input, and so on.
The kit of protocol 0.3 sends other ids, and counts on tasks that wait for more: it continues and
cancels them.
"""

import asyncio
from functools import partial

from a2a.helpers import new_data_part, new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor
from a2a.server.tasks import TaskUpdater
from a2a.types import Part
from a2a.utils.errors import A2AError

DELAY_S = 2.0
PAUSE_S = 0.1
KIT_OF_1_0 = "tck-"


async def complete(updater, text="Hello from TCK"):
    await updater.complete(updater.new_agent_message([Part(text=text)]))


async def delayed(updater, delay_s):
    await updater.start_work()
    await asyncio.sleep(delay_s)
    await complete(updater, "Done after delay")


async def watched(updater, delay_s):
    await updater.start_work()
    await asyncio.sleep(2 * delay_s)
    await updater.complete()


async def ask_for_more(updater):
    await updater.start_work()
    await asyncio.sleep(PAUSE_S)
    await updater.requires_input(updater.new_agent_message([Part(text="What else?")]))


async def reject(updater):
    raise A2AError("rejected")


async def in_chunks(updater):
    await updater.start_work()
    await updater.add_artifact([Part(text="chunk-1 ")], artifact_id="chunked")
    await updater.add_artifact(
        [Part(text="chunk-2")], artifact_id="chunked", append=True, last_chunk=True
    )
    await updater.complete()


def artifact(part, *, works=False):
    async def work(updater):
        if works:
            await updater.start_work()
        await updater.add_artifact([part])
        await updater.complete()

    return work


FILE = Part(raw=b"tck", media_type="text/plain", filename="output.txt")
LINK = Part(url="https://example.com/output.txt", media_type="text/plain", filename="output.txt")
DATA = new_data_part({"key": "value", "count": 42})
WORK = {
    "tck-complete-task": complete,
    "tck-input-required": lambda updater: updater.requires_input(),
    "tck-auth-required": lambda updater: updater.requires_auth(),
    "tck-reject-task": reject,
    "tck-artifact-text": artifact(Part(text="Generated text content")),
    "tck-artifact-file-url": artifact(LINK),
    "tck-artifact-file": artifact(FILE),
    "tck-artifact-data": artifact(DATA),
    "tck-stream-001": artifact(Part(text="Stream hello from TCK"), works=True),
    "tck-stream-002": lambda updater: updater.complete(),
    "tck-stream-003": artifact(Part(text="Stream task lifecycle"), works=True),
    "tck-stream-ordering-001": artifact(Part(text="Ordered output"), works=True),
    "tck-stream-artifact-text": artifact(Part(text="Streamed text content"), works=True),
    "tck-stream-artifact-file": artifact(FILE, works=True),
    "tck-stream-artifact-chunked": in_chunks,
}
"""By prefix; where two fit, the longer one is meant."""
SLOW_WORK = {"tck-delayed-complete": delayed, "test-resubscribe-message-id": watched}


def work_for(message_id, delay_s):
    """What a message id asks for."""
    for prefix, work in SLOW_WORK.items():
        if message_id.startswith(prefix):
            return partial(work, delay_s=delay_s)
    fitting = [prefix for prefix in WORK if message_id.startswith(prefix)]
    if fitting:
        return WORK[max(fitting, key=len)]
    return complete if message_id.startswith(KIT_OF_1_0) else ask_for_more


class ByMessageId(AgentExecutor):
    """Does what the message id asks for."""

    def __init__(self, delay_s=DELAY_S):
        self.delay_s = delay_s

    async def execute(self, context, event_queue):
        message = context.message
        # A message that names the task alone comes with a context of its own.
        context_id = context.current_task.context_id if context.current_task else context.context_id
        updater = TaskUpdater(event_queue, context.task_id, context_id)
        if message.message_id.startswith("tck-message-response"):
            answer = updater.new_agent_message([Part(text="Direct message response")])
            await event_queue.enqueue_event(answer)
            return
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(message))
        await work_for(message.message_id, self.delay_s)(updater)

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()
