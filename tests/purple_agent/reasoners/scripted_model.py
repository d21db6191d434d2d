"""Scripted language models: servers of OpenAI's chat completions that play a part.

What one says is decided by the request alone, never by how many came before, so that
conversations may run beside each other and requests may be repeated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

ALLOWED = '{"allowed": true, "reason": "every rule holds"}'
TOKENS = 7
"""What each answer says that it cost."""

_NOTE = re.compile(r"<note>.*?</note>", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """A request as a script looks at it."""

    body: Mapping[str, Any]

    @property
    def model(self) -> str:
        """The model's name as the server got it."""
        return str(self.body["model"])

    @property
    def is_check(self) -> bool:
        """Whether it asks if a change is allowed."""
        return "<proposed-call>" in self.text

    @property
    def last(self) -> str:
        """What the user or a tool said last, without the agent's own notes."""
        said = (m for m in reversed(self.body["messages"]) if m["role"] in ("user", "tool"))
        texts = (_NOTE.sub("", str(message.get("content") or "")).strip() for message in said)
        return next((text for text in texts if text), "")

    @property
    def notes(self) -> str:
        """The agent's own notes of the last message."""
        return "\n".join(_NOTE.findall(str(self.body["messages"][-1].get("content") or "")))

    @property
    def text(self) -> str:
        """All that it says."""
        return "\n".join(str(message.get("content") or "") for message in self.body["messages"])

    @property
    def calls(self) -> list[tuple[str, Any]]:
        """The calls that were made so far, as they stand in the request."""
        return [
            (call["function"]["name"], json.loads(call["function"]["arguments"]))
            for message in self.body["messages"]
            for call in message.get("tool_calls") or ()
        ]


ScriptAnswer = str | int | Mapping[str, Any]
"""Words, an HTTP status to fail with, or a whole message of the assistant."""
Script = Callable[[Asked], ScriptAnswer]


@dataclass
class ScriptedModel:
    """A server's application that answers by a script, and what it was asked.

    Args:
        script: Decides on each answer. `calls` and `words` make some.
        check: Answers questions whether a change is allowed; None: the script does.
    """

    script: Script
    check: ScriptAnswer | Script | None = ALLOWED
    asked: list[Asked] = field(default_factory=list)

    def app(self) -> Starlette:
        """At `/v1`, whatever comes before it in the address."""
        return Starlette(routes=[Route("/v1/chat/completions", self._complete, methods=["POST"])])

    async def _complete(self, request: Request) -> Response:
        asked = Asked(await request.json())
        self.asked.append(asked)
        answer = self._answer(asked)
        if isinstance(answer, int):
            return JSONResponse({"error": {"message": "refused", "code": answer}}, answer)
        message = {"role": "assistant", "content": answer} if isinstance(answer, str) else answer
        return JSONResponse(
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 0,
                "model": asked.model,
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": TOKENS},
            }
        )

    def _answer(self, asked: Asked) -> ScriptAnswer:
        if asked.is_check and self.check is not None:
            return self.check(asked) if callable(self.check) else self.check
        return self.script(asked)


def calls(*wanted: tuple[str, Any], content: str | None = None) -> Mapping[str, Any]:
    """A message that calls tools. Arguments that are text are sent as they are, valid or not."""
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [
            {
                "id": f"c{number}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": given if isinstance(given, str) else json.dumps(given),
                },
            }
            for number, (name, given) in enumerate(wanted, 1)
        ],
    }


def by_last(lines: Sequence[tuple[str, ScriptAnswer]], *, otherwise: ScriptAnswer) -> Script:
    """A script of pairs: the first whose pattern is found in what was said last answers."""

    def script(asked: Asked) -> ScriptAnswer:
        last = asked.last
        return next((given for found, given in lines if re.search(found, last)), otherwise)

    return script


def player(
    plan: Sequence[tuple[str, Mapping[str, Any]]],
    *,
    changes: frozenset[str],
    question: str = "Shall I do all of this? Please say yes.",
    done: str = "All of that is done.",
) -> Script:
    """A script that makes the calls of a plan in order, one a message.

    Where it stands is read off the calls in the request. Before the first change it asks the
    user, and goes on when the user has answered.

    Args:
        plan: Tools and arguments.
        changes: The tools that need the user's yes.
        question: Said before the first of them.
        done: Said when the plan is through.
    """

    def script(asked: Asked) -> ScriptAnswer:
        made = [call for call in asked.calls if call in [(n, dict(a)) for n, a in plan]]
        step = _step(plan, made)
        if step == len(plan):
            return done
        first_change = next((i for i, (n, _) in enumerate(plan) if n in changes), len(plan))
        if step == first_change and not _said(asked, question):
            return question
        name, arguments = plan[step]
        return calls((name, dict(arguments)))

    return script


def _step(plan: Sequence[tuple[str, Mapping[str, Any]]], made: Sequence[tuple[str, Any]]) -> int:
    """How much of the plan is behind, by the calls that the request still holds."""
    step = 0
    for call in made:
        if step < len(plan) and call == (plan[step][0], dict(plan[step][1])):
            step += 1
    if step == 0 and made:  # the beginning was summarised away
        step = max(i for i, (name, given) in enumerate(plan, 1) if (name, dict(given)) == made[-1])
    return step


def _said(asked: Asked, words: str) -> bool:
    spoken = (m for m in asked.body["messages"] if m["role"] == "assistant")
    return any(words in str(message.get("content") or "") for message in spoken)
