"""Users of a task: turns that are written down, or a person who is played."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from evals.trace import USER, CallType
from tau_bridge.benchmark import MODEL_USER, SCRIPTED_USER, UserModel, UserSheet
from tau_bridge.completion import COMPLETION
from tau_bridge.errors import UserModelError
from tau_bridge.phrases import normalize
from tau_bridge.recorder import TraceRecorder
from tau_bridge.redaction import redact_error
from tau_bridge.task_files.model import Person, Task
from tau_bridge.tool_dialogue import Speaker

MAX_TURNS: Final = 12
"""Turns after which a person who is played has had enough."""
DONE: Final = "###DONE###"
_GUIDELINES: Final = f"""\
You are a customer who writes to a service in a chat. Stay this person; never help like an assistant.
One short message at a time, in your own words. Only what stands below is true; what does not stand
there you do not know. Tell a detail when you are asked for it. When your goal is reached, or cannot
be, write {DONE} and nothing else.
"""


def user_of(
    task: Task, model: UserModel | None, recorder: TraceRecorder
) -> tuple[Speaker | None, str | None]:
    """Return who speaks after the prompt, and their label in results; None: nobody does."""
    if not isinstance(task.user, Person):
        return (_Turns(task.user), SCRIPTED_USER) if task.user else (None, None)
    if model is None:
        return _ByFacts(task.user), SCRIPTED_USER
    return _Played(task, model, recorder), f"{MODEL_USER}{model.name}"


class _Turns:
    def __init__(self, turns: Sequence[str]) -> None:
        self._left = iter(turns)

    async def reply(self, said: str) -> str | None:
        del said
        return next(self._left, None)


class _ByFacts:
    """Tells the facts that it is asked for, agrees, and has nothing more to say to the rest."""

    def __init__(self, person: Person) -> None:
        self._facts = dict(person.facts)
        self._agreed = 0

    async def reply(self, said: str) -> str | None:
        asked = [name for name in self._facts if _asks_for(said, name)]
        if asked:
            told = [f"My {name} is {self._facts.pop(name)}." for name in asked]
            return " ".join(told)
        if "?" in said and self._agreed < MAX_TURNS and not _offers_more(said):
            self._agreed += 1
            left = [f"{name}: {value}" for name, value in self._facts.items()]
            self._facts.clear()
            return f"Yes, please. {'; '.join(left)}".strip()
        return None


def _asks_for(said: str, name: str) -> bool:
    words = re.findall(r"\w+", normalize(name.replace("_", " ")))
    heard = set(re.findall(r"\w+", normalize(said)))
    return bool(words) and heard.issuperset(words)


def _offers_more(said: str) -> bool:
    return re.search(r"(?:anything|something) (?:else|more)", normalize(said)) is not None


class _Played:
    """A person whom a language model plays."""

    def __init__(self, task: Task, model: UserModel, recorder: TraceRecorder) -> None:
        self._model = model
        self._recorder = recorder
        self._chat: list[Mapping[str, Any]] = [
            {"role": "system", "content": _GUIDELINES + _sheet(task)},
            {"role": "assistant", "content": task.prompt},
        ]

    async def reply(self, said: str) -> str | None:
        self._chat.append({"role": "user", "content": said})
        step = self._recorder.begin(
            call_type=CallType.TOOL,
            caller=USER,
            callee=self._model.name,
            name=COMPLETION,
            request_text=said,
        )
        try:
            result = await self._model.completion(self._chat)
        except Exception as error:
            text = f"{type(error).__name__}: {redact_error(str(error))}"
            step.end(error=text)
            raise UserModelError(f"the user's model {self._model.name!r} failed: {text}") from error
        step.end(
            response_text=result.content,
            cost=result.cost,
            total_tokens=result.total_tokens,
            attributes=result.attributes,
        )
        text = (result.content or "").strip()
        if not text:
            raise UserModelError(f"the user's model {self._model.name!r} answered with nothing")
        self._chat.append({"role": "assistant", "content": text})
        return None if DONE in text or len(self._chat) > 2 * MAX_TURNS else text


def user_sheet(task: Task) -> UserSheet | None:
    """Return what a person who is played is told; the prompt is the task's, and not their words."""
    if not isinstance(task.user, Person):
        return None
    return UserSheet(instructions=f"{_sheet(task)}\n{task.prompt}", began=1)


def _sheet(task: Task) -> str:
    person = task.user
    if not isinstance(person, Person):
        raise TypeError("only a person is played")
    facts = "\n".join(f"- {name}: {value}" for name, value in person.facts.items())
    return f"\nWho you are: {person.persona}\nYour goal: {person.goal}\nWhat you know:\n{facts}\n"
