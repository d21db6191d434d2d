"""A language model that is a few rules: OpenAI's chat completions over HTTP, for agents under test.

It plays a customer-service agent of τ²-bench from the conversation alone: it looks up who the user
is, reads records as JSON, makes one simple change, and says what it found. It needs nothing but the
standard library.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOOLS_LINE = "Here's a list of tools you can use (you can use at most one tool at a time):"
MESSAGES_LINE = "Now here are the user messages:"
MOST_RECORDS = 3
"""Orders or reservations that are looked up for one user."""
LOST = "I do not know what this is about: I cannot see how our conversation began."
ASKING = "Could you please tell me your user id, or your first and last name and your zip code?"

USER_ID = re.compile(r"\b[a-z]+_[a-z]+_\d{3,5}\b")
EMAIL = re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+\w")
NAME = re.compile(r"\b(?:[Yy]ou are|I am|I'm|[Nn]ame is) ([A-Z][a-z]+) ([A-Z][a-z]+)\b")
ZIP = re.compile(r"\bzip\s?code\D{0,12}(\d{5})\b|\b(\d{5})\b")
NEW_TASK = re.compile(r"task (?:called|named|titled) ['\"]([^'\"]+)['\"]")
OWNER = re.compile(r"\buser_\d+\b")


def said(content: Any) -> str:
    """Return the text of a message, which may come in parts."""
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content or ""


def call_in(text: str) -> dict[str, Any] | None:
    """Return the call that an earlier reply of this model made."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) and "name" in value else None


class Conversation:
    """What the messages of one request say.

    Args:
        messages: In OpenAI's form, oldest first.
        counts: Takes what was seen.
    """

    def __init__(self, messages: list[dict[str, Any]], counts: Counter[str]) -> None:
        self.tools: set[str] = set()
        self.heard: list[str] = []
        self.results: list[tuple[dict[str, Any], Any]] = []
        self.asked = 0
        self.begun = False
        open_call: dict[str, Any] | None = None
        is_result = False
        for message in messages:
            text = said(message.get("content"))
            is_result = False
            if message["role"] == "assistant":
                call = call_in(text)
                open_call = call if call and call["name"] != "respond" else None
                self.asked += ASKING in text
            elif message["role"] in ("user", "tool"):
                if MESSAGES_LINE in text:
                    self._open(text)
                elif open_call is not None:
                    self.results.append((open_call, self._read(text)))
                    open_call, is_result = None, True
                else:
                    self.heard.append(text)
        if is_result:
            counts["text results" if isinstance(self.results[-1][1], str) else "JSON results"] += 1

    def _open(self, text: str) -> None:
        self.begun = True
        tools, _ = json.JSONDecoder().raw_decode(text.partition(f"{TOOLS_LINE}\n")[2])
        self.tools = {tool["function"]["name"] for tool in tools}
        self.heard.append(text.partition(f"{MESSAGES_LINE}\n")[2])

    @staticmethod
    def _read(text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return text

    def result_of(self, *names: str) -> Any:
        """Return the latest result of one of these tools that is not an error."""
        for call, result in reversed(self.results):
            failed = isinstance(result, str) and result.startswith(("Error", "Tool '"))
            if call["name"] in names and not failed:
                return result
        return None

    def called(self, name: str, arguments: dict[str, Any]) -> bool:
        """Whether this very call was made."""
        return any(call == {"name": name, "arguments": arguments} for call, _ in self.results)


def wanted_calls(talk: Conversation) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the useful calls in the order in which they are made, each once."""
    words = "\n".join(talk.heard)
    title, owner = NEW_TASK.search(words), OWNER.search(words)
    if title and owner:
        yield "create_task", {"user_id": owner[0], "title": title[1]}
    email, name, zip_code = EMAIL.search(words), NAME.search(words), ZIP.search(words)
    if email:
        yield "find_user_id_by_email", {"email": email[0]}
    if name and zip_code:
        who = {"first_name": name[1], "last_name": name[2], "zip": zip_code[1] or zip_code[2]}
        yield "find_user_id_by_name_zip", who
    found = talk.result_of("find_user_id_by_email", "find_user_id_by_name_zip")
    user_id = found if isinstance(found, str) else (USER_ID.search(words) or [None])[0]
    if user_id:
        yield "get_user_details", {"user_id": user_id}
    profile = talk.result_of("get_user_details")
    if isinstance(profile, dict):
        for order_id in profile.get("orders", [])[:MOST_RECORDS]:
            yield "get_order_details", {"order_id": order_id}
        for reservation_id in profile.get("reservations", [])[:MOST_RECORDS]:
            yield "get_reservation_details", {"reservation_id": reservation_id}


def reply(messages: list[dict[str, Any]], counts: Counter[str]) -> dict[str, Any]:
    """Return the next call on the wire: a tool, or `respond`."""
    talk = Conversation(messages, counts)
    if not talk.begun:
        counts["conversations without a beginning"] += 1
        return {"name": "respond", "arguments": {"content": LOST}}
    for name, arguments in wanted_calls(talk):
        if name in talk.tools and not talk.called(name, arguments):
            counts["calls"] += 1
            return {"name": name, "arguments": arguments}
    return {"name": "respond", "arguments": {"content": words_for(talk)}}


def words_for(talk: Conversation) -> str:
    """Return the reply for when nothing is left to call."""
    made = talk.result_of("create_task")
    if isinstance(made, dict):
        return f"The task {made['task_id']} is {made['status']}. Is there anything else?"
    profile = talk.result_of("get_user_details")
    if isinstance(profile, dict):
        records = [result for _, result in talk.results if isinstance(result, dict)][1:]
        states = ", ".join(str(each.get("status", "open")) for each in records) or "none"
        return f"I found you, {profile['email']}. Your records: {states}. I can do no more for you."
    return ASKING if talk.asked < 2 else "I am sorry, I cannot help without knowing who you are."


class Handler(BaseHTTPRequestHandler):
    """Chat completions, whole or streamed."""

    server: Model

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Return the next reply."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.server.lock:
            self.server.counts["requests"] += 1
            text = json.dumps(reply(asked["messages"], self.server.counts))
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        head = {"id": "chatcmpl-1", "created": 0, "model": asked["model"]}
        message = {"role": "assistant", "content": text}
        if not asked.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            self._send({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        chunks = [
            [{"index": 0, "delta": message, "finish_reason": None}],
            [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        ]
        lines = [
            json.dumps({**head, "object": "chat.completion.chunk", "choices": choices})
            for choices in chunks
        ]
        body = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
        self._send(body, "text/event-stream")

    def _send(self, content: Any, media_type: str = "application/json") -> None:
        body = (content if isinstance(content, str) else json.dumps(content)).encode()
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Model(ThreadingHTTPServer):
    """The model at a free port of this machine."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.counts: Counter[str] = Counter()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        """The base address that OpenAI's clients are given."""
        return f"http://127.0.0.1:{self.server_port}/v1"
