"""PoliteAgent: a rule-based customer-service agent that asks for what it needs, and nothing more.

It shows how much a simulated user lets an agent find out: it asks for every argument of a task's
gold actions, reads what the gold actions read, and tells which arguments it never learned.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

from tau_bridge.messages import AssistantMessage, Message, ToolCall, UserMessage
from tau_bridge.tau2.domains import Domain
from tau_bridge.tau2.replay import new_world
from tau_bridge.tau2.stopping import is_stop
from tau_bridge.tau2.tasks import EvaluationCriteria, GoldAction, Task
from tau_bridge.wire_agent import call_ids

GREETING: Final = "Hi! How can I help you today?"
IDENTITY: Final = (
    "May I have your name and your user id, please?",
    "Could you please tell me your email address?",
    "Could you please tell me your zip code?",
    "What is your phone number, please?",
)
DETAILS: Final = (
    "Which order or reservation is this about? Please provide its number.",
    "Could you please tell me the reason?",
    "Which payment method would you like to use?",
    "On which dates, and from where to where, would you like to travel?",
    "Which cabin class, how many bags, and which passengers?",
    "Which options would you prefer for the items?",
)
MORE: Final = (
    "That is noted. Is there anything else I can help you with?",
    "That is noted, too. Is there anything else I can help you with?",
    "All of that is noted. Is there anything else I can do?",
    "Thank you. Do you need further assistance?",
)
_FREE_TEXT: Final = frozenset(["summary", "thought", "expression"])
_MONTHS: Final = (
    "January February March April May June July August September October November December"
)


_SHAPES: Final = {  # of what a look-up takes, by the name of its argument
    "customer_id": r"\bC\d{3,}\b",
    "email": r"[\w.]+@[\w.]+\w",
    "order_id": r"#W\d+",
    "product_id": r"\b\d{10}\b",
    "phone_number": r"\b\d{3}-\d{3}-\d{4}\b",
    "reservation_id": r"\b(?=[A-Z]*\d)[A-Z\d]{6}\b",
    "user_id": r"\b[a-z]+_[a-z]+_\d+\b",
}
_NAME: Final = r"(?:name is|I am|I'm|You are|You're) ([A-Z]\w+) ([A-Z]\w+)"
_ZIP: Final = r"(?<![#\d-])\d{5}(?!\d)"


class _User(Protocol):
    async def reply(self, incoming: Sequence[Message]) -> UserMessage: ...


class PoliteAgent:
    """Serves one conversation.

    Args:
        domain: The task's domain; gold reads are made in a world of it.
        task: Whose arguments are to be learned.
        looks_up: It also looks up, of its own accord, the users, orders, reservations and customers
            that it was told of.

    Attributes:
        heard: The user's texts, in order.
    """

    def __init__(self, domain: Domain, task: Task, *, looks_up: bool = False) -> None:
        criteria = task.evaluation_criteria or EvaluationCriteria()
        self._actions = [each for each in criteria.actions or () if each.requestor == "assistant"]
        self._is_write = domain.tool_names.changes_state
        self._world = new_world(domain, task)
        self._ids = call_ids()
        self._look_ups = dict(_look_ups(domain)) if looks_up else {}
        self._read: dict[str, str] = {}
        self.heard: list[str] = []

    async def missing(self, user: _User) -> list[str]:
        """The arguments, as `tool.argument`, that neither the user nor a gold read gave away."""
        asked: set[str] = set()
        if not await self._ask(user, GREETING):
            return self._missing()
        for question in (*IDENTITY, *DETAILS):
            if self._missing() and not await self._ask(user, question):
                return self._missing()
        for more in MORE:
            for name in self._missing():
                argument = name.partition(".")[2].replace("_", " ")
                question = f"Could you please tell me the {argument}?"
                if question not in asked and not await self._ask(user, question):
                    return self._missing()
                asked.add(question)
            if not self._missing() or not await self._ask(user, more):
                break
        return self._missing()

    async def _ask(self, user: _User, question: str) -> bool:
        """Whether the user is still there after its answer."""
        said = await user.reply([AssistantMessage(content=question)])
        self.heard.append(said.text)
        return not is_stop(said)

    def _missing(self) -> list[str]:
        """What is missing after every read that can be made, until that gives nothing new."""
        before = -1
        while len(self._read) > before:
            before = len(self._read)
            for action in self._actions:
                if not self._is_write(action.name) and not list(self._unlearned(action)):
                    self._make(action.name, action.arguments)
            for name, argument in self._look_ups.items():
                for value in sorted(set(re.findall(_SHAPES[argument], self._known()))):
                    self._make(name, {argument: value})
            for first, last in re.findall(_NAME, self._known()) if self._look_ups else ():
                for code in re.findall(_ZIP, "\n".join(self.heard)):
                    person = {"first_name": first, "last_name": last, "zip": code}
                    self._make("find_user_id_by_name_zip", person)
        return [f"{each.name}.{key}" for each in self._actions for key in self._unlearned(each)]

    def _make(self, name: str, arguments: dict[str, Any]) -> None:
        key = f"{name}{sorted(arguments.items())}"
        if key not in self._read:
            call = ToolCall(id=next(self._ids), name=name, arguments=arguments)
            self._read[key] = self._world.respond(call).content or ""

    def _known(self) -> str:
        return "\n".join([*self.heard, *self._read.values()])

    def _unlearned(self, action: GoldAction) -> Iterator[str]:
        known = self._known().lower()
        for key, value in action.arguments.items():
            if key not in _FREE_TEXT and not all(_is_told(leaf, known) for leaf in _leaves(value)):
                yield key


def _look_ups(domain: Domain) -> Iterator[tuple[str, str]]:
    """The tools that only read and take one thing by which somebody is found, and that thing."""
    for schema in domain.agent_schemas:
        required: Sequence[str] = schema["function"]["parameters"].get("required") or ()
        name = schema["function"]["name"]
        if (
            len(required) == 1
            and required[0] in _SHAPES
            and not domain.tool_names.changes_state(name)
        ):
            yield name, required[0]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def _is_told(leaf: Any, known: str) -> bool:
    """Whether a value was told; numbers and yes or no are counted and decided, not told."""
    if not isinstance(leaf, str) or leaf in {"yes", "no", ""}:
        return True
    ways = [leaf.lower(), leaf.lower().replace("_", " ")]
    date = re.fullmatch(r"\d{4}-(\d\d)-(\d\d)", leaf)
    if date is not None:
        ways.append(f"{_MONTHS.split()[int(date[1]) - 1]} {int(date[2])}".lower())
    return any(way in known for way in ways)
