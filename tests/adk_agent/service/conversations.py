"""Conversations with the green agent, and what its tasks say."""

import itertools
import json
import threading
import uuid
from dataclasses import dataclass

import httpx

TIMEOUT_S = 120
NUMBERS = itertools.count(1)


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Speaks JSON-RPC 1.0 to the green agent in one context."""

    url: str
    context_id: str

    def call(self, method, params):
        body = {"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": params}
        headers = {"A2A-Version": "1.0"}
        answer = httpx.post(self.url, json=body, headers=headers, timeout=TIMEOUT_S).json()
        return answer.get("result") or answer["error"]

    def message(self, text, **fields):
        parts = fields.pop("parts", [{"text": text}])
        return {
            "messageId": str(uuid.uuid4()),
            "contextId": self.context_id,
            "role": "ROLE_USER",
            "parts": parts,
            **fields,
        }

    def say(self, text, **fields):
        """The task that a message leads to, once it is over."""
        result = self.call("SendMessage", {"message": self.message(text, **fields)})
        return result.get("task", result)

    def begin(self, text):
        """The task that a message leads to, as soon as there is one."""
        configuration = {"returnImmediately": True}
        params = {"message": self.message(text), "configuration": configuration}
        return self.call("SendMessage", params)["task"]

    def task(self, task_id):
        return self.call("GetTask", {"id": task_id})

    def run_of(self, task_id):
        """The run that a task began, once it has."""
        while "progress" not in (metadata := self.task(task_id).get("metadata", {})):
            threading.Event().wait(0.02)
        return metadata["progress"]["run_id"]

    def events(self, method, params):
        body = {"jsonrpc": "2.0", "id": next(NUMBERS), "method": method, "params": params}
        headers = {"A2A-Version": "1.0"}
        with httpx.stream(
            "POST", self.url, json=body, headers=headers, timeout=TIMEOUT_S
        ) as response:
            for line in response.iter_lines():
                if line.startswith("data:"):
                    yield json.loads(line.removeprefix("data:"))["result"]


def words(task):
    return task["status"]["message"]["parts"][0]["text"]


def state(task):
    return task["status"]["state"].removeprefix("TASK_STATE_").lower()


def row(task):
    [artifact] = [each for each in task["artifacts"] if each["name"] == "evaluation"]
    [_, data] = artifact["parts"]
    return data["data"]
