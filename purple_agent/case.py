"""Case: one message on its way through the stages of the reference agent.

A stage replaces the `Case` and never changes it. State that lasts from one message of a
conversation to the next is in the `Session`, which one message at a time may use.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, Protocol

from purple_agent.model_usage import ModelUsage
from purple_agent.policy.hashing import hash_policy
from purple_agent.policy.rules import Policy
from purple_agent.process.machine import Process

Json = Any
"""Any JSON value."""


Complete = Callable[[str], Awaitable[tuple[str, int]]]
"""Returns a language model's answer to a prompt, and the tokens of both."""


class Dialect(StrEnum):
    """The form of a conversation."""

    BUSINESS = "business"
    """Text, with policy, address of the tools and session id in the message's metadata."""
    TAU2 = "tau2"
    """The τ² text wire: policy and tools in the first message, one JSON object per reply."""


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """A tool as its provider describes it. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Json]
    is_write: bool
    """True if it may change something, or if that is unknown."""


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """A call that the agent makes. Ids count up within a session: `call-1`."""

    id: str
    name: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, kw_only=True)
class ToolResult:
    """The result of a call.

    Args:
        text: The unchanged text; for a failed call, the error, fit to be shown to a model.
        value: The text parsed as JSON, or the text itself if it is not JSON; None for a failure.
        failed: True if the tool or the connection to it failed.
    """

    text: str
    value: Json = None
    failed: bool = False


class ToolProvider(Protocol):
    """A source of tools that can be called."""

    async def specs(self) -> Sequence[ToolSpec]:
        """List the tools.

        Raises:
            ToolsUnavailableError: They cannot be listed. The message may be shown to the caller.
        """
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Make a call. An error becomes a failed result, not an exception."""
        ...

    async def aclose(self) -> None:
        """Close all connections."""
        ...


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One utterance or event of a conversation, oldest first in `Session.entries`."""

    role: Literal["user", "agent", "call", "result", "note"]
    """`note`: written by the agent for its reasoner only, such as why a call was not made."""
    text: str = ""
    call: ToolCall | None = None
    """Set for a call and its result."""
    result: ToolResult | None = None


@dataclass(frozen=True, kw_only=True)
class PastCase:
    """A masked case from the memory. `score` is its similarity, 0 to 100."""

    request: str
    answer: str
    process: str
    quality: float
    score: float


@dataclass(kw_only=True)
class Session:
    """The state of one conversation. Kept in memory only.

    Args:
        context_id: The A2A context.
        dialect: The dialect, decided by the first message.
        given: Metadata that later messages may leave out, until it is pinned: `policy_doc`,
            `tools_endpoint`, `session_id`.
        begun: True once a message has reached the pipeline and a checkpoint was looked for.
        policy_hash: The hash of the pinned policy, or of the one pinned before the session was
            lost; no other policy is ever pinned. Empty if that policy is unknown; None if none was
            pinned.
        policy_text: The unchanged text of the pinned policy.
        policy: The pinned policy as rules; empty for prose.
        specs: The tools; pinned, but listed again if a schema has drifted.
        entries: All utterances and events; a summary may replace the oldest.
        summary: A summary of removed entries, at most 200 words.
        facts: Known records, by name, for the policy and for filling slots: `{"expense": {...}}`.
        process: The business process.
        tools: The open tools; None for the τ² wire, where a call is a reply.
        spent_tokens: Tokens of language models over the whole session, estimated where unknown.
        usage: The known usage of language models since the last reply.
        calls: The number of calls so far.
        answered: Replies by message id, so that a repeated message gets the same reply.
        read: The cache of parsed texts; see `purple_agent.session_cache`.
        scratchpad: The reasoner's notes; None before its first reply.
    """

    context_id: str
    dialect: Dialect
    given: dict[str, Json] = field(default_factory=dict)
    begun: bool = False
    policy_hash: str | None = None
    policy_text: str = ""
    policy: Policy = field(default_factory=Policy)
    specs: tuple[ToolSpec, ...] = ()
    entries: list[Entry] = field(default_factory=list)
    summary: str = ""
    facts: dict[str, Json] = field(default_factory=dict)
    process: Process = field(default_factory=Process)
    tools: ToolProvider | None = None
    spent_tokens: int = 0
    usage: ModelUsage = field(default_factory=ModelUsage, compare=False)
    calls: int = 0
    answered: dict[str, Answer] = field(default_factory=dict)
    read: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    scratchpad: Any = field(default=None, repr=False, compare=False)

    @property
    def has_policy(self) -> bool:
        """Tell whether a policy is pinned, even if it is unreadable."""
        return bool(self.policy_text) or self.policy.unreadable

    @property
    def policy_missing(self) -> bool:
        """Tell whether a pinned policy was lost with the session, so that writes are forbidden."""
        return self.policy_hash is not None and not self.has_policy

    @property
    def lasting_policy_hash(self) -> str | None:
        """Return the hash to keep after the session, even of a policy that is not read yet."""
        document = self.given.get("policy_doc")
        if self.policy_hash is None and document:
            return hash_policy(document)
        return self.policy_hash

    def may_pin(self, policy_hash: str) -> bool:
        """Tell whether the policy with this hash may be pinned."""
        return not self.has_policy and self.policy_hash in (None, "", policy_hash)

    @property
    def pending_call(self) -> ToolCall | None:
        """Return the call that the next message on the τ² wire answers, or None."""
        last = next((entry for entry in reversed(self.entries) if entry.role != "note"), None)
        return last.call if last is not None and last.role == "call" else None

    def spec(self, name: str) -> ToolSpec | None:
        """Return a tool by its name, or None."""
        return next((spec for spec in self.specs if spec.name == name), None)

    def new_call(self, name: str, arguments: Mapping[str, Json]) -> ToolCall:
        """Return a call with the next id."""
        self.calls += 1
        return ToolCall(id=f"call-{self.calls}", name=name, arguments=dict(arguments))


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """An incoming message, independent of the protocol."""

    context_id: str
    message_id: str
    text: str
    metadata: Mapping[str, Json] = field(default_factory=dict)
    """`policy_doc`, `tools_endpoint`, `session_id`, `difficulty`, all optional."""


@dataclass(frozen=True, kw_only=True)
class Say:
    """A reply in words.

    Args:
        text: The words.
        unable: True if they say that nothing of the request could be done.
    """

    text: str
    unable: bool = False


@dataclass(frozen=True, kw_only=True)
class Use:
    """A tool call: on the τ² wire the reply itself, otherwise made by stage 7."""

    call: ToolCall


Reply = Say | Use


class BudgetLevel(StrEnum):
    """The models that stage 1 allows."""

    FULL = "full"
    SMALL = "small"
    """Only the smaller model, because four fifths of a limit are used up."""
    NONE = "none"
    """No more calls of a model."""

    def lesser(self, other: BudgetLevel) -> BudgetLevel:
        """Return the lower of two levels."""
        return max(self, other, key=list(BudgetLevel).index)


@dataclass(frozen=True, kw_only=True)
class Quality:
    """The agent's own opinion of a reply, each from 0 to 1.

    Args:
        answer: The reply.
        tools: The calls; None if none was made.
        policy: The changes; None if none was tried.
        total: The mean of the known ones, weighted by .35, .35 and .30.
    """

    answer: float
    tools: float | None
    policy: float | None
    total: float


@dataclass(frozen=True, kw_only=True)
class Case:
    """One message and the stages' findings about it."""

    incoming: Incoming
    session: Session
    flags: tuple[str, ...] = ()
    """Observations that do not stop the case, such as `privacy:bulk`."""
    budget_level: BudgetLevel = BudgetLevel.FULL
    similar: tuple[PastCase, ...] = ()
    reply: Reply | None = None
    author: str = "deterministic"
    """The writer of the reply: `deterministic`, or `llm:` and the model's name."""
    quality: Quality | None = None

    def flagged(self, *flags: str) -> Case:
        """Return the case with further flags."""
        return replace(self, flags=(*self.flags, *flags)) if flags else self


AnswerKind = Literal["answered", "called", "refused", "blocked", "exhausted", "failed"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The answer for the caller.

    Args:
        text: The words; on the τ² wire one JSON object.
        kind: The kind of answer: `refused` by stage 0, `blocked` by a policy, `exhausted` by the
            budget, `failed` by an error of the agent; otherwise `answered`, or `called` on the
            wire.
        metadata: The agent's statements about itself, as JSON.
    """

    text: str
    kind: AnswerKind
    metadata: Mapping[str, Json] = field(default_factory=dict)


Stage = Callable[[Case], Awaitable[Case | Answer]]
"""Passes the case on or ends the pipeline. Only stages 0, 4 and 10 may end it."""
