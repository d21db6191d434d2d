"""ModelReasoner: decides on the next reply with language models, and checks their proposals."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from purple_agent.case import BudgetLevel, Case, Dialect, Entry, Reply, Say, Session, Use
from purple_agent.reasoners.confirmation import asks_confirmation
from purple_agent.reasoners.model.brainos import BrainOs
from purple_agent.reasoners.model.chain import Chain
from purple_agent.reasoners.model.checks import form_problem, may_be_confirmed, unread
from purple_agent.reasoners.model.completion import Completion, LiteLlmCompletion, ProposedCall
from purple_agent.reasoners.model.errors import NoModelLeftError
from purple_agent.reasoners.model.prompts import Prompt, build_prompt, session_tool_schemas
from purple_agent.reasoners.model.replies import Proposal, read_reply
from purple_agent.reasoners.model.scratchpad import Scratchpad, information, key_of, scratchpad_of
from purple_agent.reasoners.model.verify import question, read_verdict
from purple_agent.settings import ReferenceSettings
from purple_agent.toolbox.control import control_of

MAX_ANSWERS = 8
"""Most answers of a model for one reply, including thoughts and refused calls."""
MAX_MALFORMED = 2
"""Malformed answers among these: the first is sent back with what is wrong."""
MAX_REFUSED = 3
"""Refusals of the same arguments."""
MAX_SAME = 2
"""Calls with the same arguments until the user speaks again."""
MAX_TOLD = 10
"""Changes that are named where no model is left."""

_ADMITS = re.compile(
    r"\W*(?:(?:(?:I am|I['’]m) )?sorry,? (?:but )?|unfortunately,? )?"
    r"I (?:have no (?:tools?|way)|(?:do not|don['’]t) (?:know|have (?:a|any|the|access))"
    r"|am (?:not able|unable))\b",
    re.IGNORECASE,
)
"""Beginning of a reply that nothing could be done. A plain "I cannot" may be a policy's no."""
UNAVAILABLE = "I am sorry, I cannot think this through right now: no language model can be reached."
STUCK = (
    "I am sorry, I could not work out a permitted way to do this. "
    "Could you say once more what exactly you need?"
)


class ModelReasoner:
    """Asks the models of the settings. A `purple_agent.reasoners.reasoner.Reasoner`.

    Args:
        settings: The models; `primary` or `brainos_url` has to be set.
        completion: Calls models; None for litellm.
        brainos: The client of `settings.brainos_url`; None for the default one.
        monotonic: Returns seconds of a monotonic clock.
    """

    def __init__(
        self,
        settings: ReferenceSettings,
        completion: Completion | None = None,
        *,
        brainos: BrainOs | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if brainos is None and settings.brainos_url:
            brainos = BrainOs(settings.brainos_url)
        self._brainos = brainos
        self._chain = Chain(
            settings, completion or LiteLlmCompletion(), brainos=brainos, monotonic=monotonic
        )
        self._first = settings.primary.name if settings.primary else "brainos"

    def author(self, session: Session) -> str:
        """See `Reasoner`; before the first reply, the model that will be asked first."""
        return f"llm:{scratchpad_of(session).author or self._first}"

    async def next(self, case: Case) -> Reply:
        """Return the next reply. Never raises for an error of a model, a tool or a user.

        If no model can be reached, the reply says so and what was done, and the session's `flags`
        have `model:unavailable`.
        """
        pad = scratchpad_of(case.session)
        pad.flags.discard("model:unavailable")
        pad.observe(case.session)
        pad.settle_queue(case.session.entries)
        try:
            reply = await self._decide(case, pad)
        except NoModelLeftError:
            pad.flags.add("model:unavailable")
            reply = _stopped(UNAVAILABLE, case.session, pad)
        return reply

    def flags(self, session: Session) -> tuple[str, ...]:
        """Return flags about this session's models: `model:spare`, `model:unavailable`."""
        return tuple(sorted(scratchpad_of(session).flags))

    async def complete(self, prompt: str) -> tuple[str, int]:
        """Ask the small model beside the conversation; return its answer and the tokens it took.

        Raises:
            NoModelLeftError: No model could be reached.
        """
        asked = Prompt(({"role": "user", "content": prompt},), ())
        completed = (await self._chain.ask(lambda _: asked, BudgetLevel.SMALL)).completed
        return completed.content, completed.tokens

    async def aclose(self) -> None:
        """Close the connections."""
        if self._brainos is not None:
            await self._brainos.aclose()

    async def _decide(self, case: Case, pad: Scratchpad) -> Reply:
        strikes = _Strikes()
        for _ in range(MAX_ANSWERS):
            proposal = await self._propose(case, pad)
            if proposal.calls:
                reply = await self._on_calls(case, pad, proposal.calls, strikes)
            else:
                reply = _on_words(case.session, proposal, strikes)
            if reply is not None:
                return reply
            if strikes.out:
                break
        return _stopped(STUCK, case.session, pad)

    async def _on_calls(
        self, case: Case, pad: Scratchpad, calls: tuple[ProposedCall, ...], strikes: _Strikes
    ) -> Reply | None:
        """Return the first of the calls, or None where it is sent back to the model."""
        call, *rest = calls
        problem = form_problem(call, case.session)
        if problem:
            strikes.malformed += 1
            # A tool that exists may know better than its schema; another one cannot be called.
            if strikes.malformed >= MAX_MALFORMED and _callable(call, case.session):
                problem = ""
        problem = problem or await self._objection(case, pad, call)
        if not problem:
            return _use(case.session, pad, call, rest)
        shown = json.dumps(call.arguments, ensure_ascii=False, default=str)[:1_000]
        strikes.refused[shown] += 1
        _note(case.session, f"The call {call.name[:100]} {shown} was not made. {problem}")
        return None

    async def _propose(self, case: Case, pad: Scratchpad) -> Proposal:
        """Take the queue of the last message, or ask the model again."""
        if pad.queue:
            calls = tuple(pad.queue)
            pad.queue.clear()
            return Proposal(calls=calls)
        answered = await self._chain.ask(
            lambda native: build_prompt(case, native=native), case.budget_level
        )
        case.session.spent_tokens += answered.completed.tokens
        pad.author = answered.name
        if answered.name != self._first:
            pad.flags.add(f"model:{answered.name}"[:100])
        schemas = session_tool_schemas(case.session)
        return read_reply(answered.completed, schemas, native=answered.native)

    async def _objection(self, case: Case, pad: Scratchpad, call: ProposedCall) -> str:
        """Say why a call is not made although its form is right; may be empty."""
        session, arguments = case.session, call.arguments or {}
        key = key_of(call.name, arguments)
        spec = session.spec(call.name)
        is_write = spec is None or spec.is_write
        if is_write and pad.done.get(key) == pad.turn:
            return "This was already carried out; see its result. Do not make it again."
        if pad.made[key] >= MAX_SAME:
            return "You have made this very call several times; its result will be the same."
        if not is_write or control_of(call.name) is not None:
            return ""
        if key not in pad.sent_back and (found := _before_a_change(key, call, session, pad)):
            pad.sent_back.add(key)
            return found
        return await self._verdict(case, pad, call) if _needs_verdict(session) else ""

    async def _verdict(self, case: Case, pad: Scratchpad, call: ProposedCall) -> str:
        """Say what speaks against a change: asked once, and again only after something new."""
        session, arguments = case.session, call.arguments or {}
        if asks_confirmation(session.policy_text) and not _confirmable(session):
            return "Tell the user first what exactly you are about to do, and wait for a clear yes."
        key, now = key_of(call.name, arguments), information(session.entries)
        if key not in pad.objections or pad.objections[key][0] != now:
            prompt = Prompt(tuple(question(session, call.name, arguments)), ())
            answered = await self._chain.ask(lambda _: prompt, case.budget_level)
            session.spent_tokens += answered.completed.tokens
            verdict = read_verdict(answered.completed.content)
            objection = "" if verdict.allowed else f"The check says no: {verdict.reason}"
            pad.objections[key] = (now, objection)
        return pad.objections[key][1]


@dataclass(kw_only=True)
class _Strikes:
    """The failures while one reply is looked for."""

    malformed: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def out(self) -> bool:
        """Tell whether it is no use to ask on."""
        stubborn = max(self.refused.values(), default=0)
        return self.malformed >= MAX_MALFORMED or stubborn >= MAX_REFUSED


def _on_words(session: Session, proposal: Proposal, strikes: _Strikes) -> Reply | None:
    """Return the words for the user, or None where there are none."""
    if proposal.words:
        return Say(text=proposal.words, unable=_ADMITS.match(proposal.words) is not None)
    strikes.malformed += not proposal.thought
    _note(session, proposal.thought or proposal.problem or "You said nothing.")
    return None


def _use(session: Session, pad: Scratchpad, call: ProposedCall, rest: list[ProposedCall]) -> Use:
    made = session.new_call(call.name, call.arguments or {})
    pad.queue.extend(rest)
    pad.waiting_for = made.id
    return Use(call=made)


def _before_a_change(key: str, call: ProposedCall, session: Session, pad: Scratchpad) -> str:
    """Say what to do before a change that is proposed for the first time; may be empty."""
    if key in pad.done:
        return "This was carried out before. Make it again only if the user asks for it again."
    return unread(call.arguments or {}, session, pad)


def _needs_verdict(session: Session) -> bool:
    """Tell whether only a model can check a change: rules are checked by the gate instead."""
    if session.dialect is Dialect.TAU2:
        return True
    return bool(session.policy_text) and session.policy.is_prose


def _confirmable(session: Session) -> bool:
    # A business request is not talked over: its sender has asked for the change.
    return session.dialect is Dialect.BUSINESS or may_be_confirmed(session)


def _callable(call: ProposedCall, session: Session) -> bool:
    return call.arguments is not None and session.spec(call.name) is not None


def _note(session: Session, text: str) -> None:
    session.entries.append(Entry(role="note", text=text))


def _stopped(sentence: str, session: Session, pad: Scratchpad) -> Say:
    """End honestly: with the sentence, and for a business what was done for this message."""
    done = [key.partition(" ")[0] for key, turn in pad.done.items() if turn == pad.turn]
    if not done or session.dialect is Dialect.TAU2:
        return Say(text=sentence)
    return Say(text=f"{sentence} Done before that: {', '.join(done[:MAX_TOLD])}. Nothing else was.")
