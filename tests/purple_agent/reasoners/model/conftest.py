"""Sessions for the model reasoner, and a completion that follows a script without any network."""

import pytest

from purple_agent.case import Case, Dialect, Entry, Incoming, Session, ToolResult, ToolSpec
from purple_agent.reasoners.model.completion import Completed, proposed
from purple_agent.reasoners.model.errors import ModelCallError, ToolsRefusedError
from purple_agent.reasoners.model.reasoner import ModelReasoner
from purple_agent.settings import ModelChoice, ReferenceSettings
from tests.purple_agent.reasoners.scripted_model import ALLOWED, TOKENS, Asked

POLICY = """\
# Parcels
A parcel may be redirected only while it is in transit.
Before any change, list the details and obtain explicit user confirmation (yes).
Refunds are given for parcels that are lost.
The office is open on weekdays from nine to five."""


def tool(name, *required, is_write=False, **types):
    properties = {key: {"type": types.get(key, "string")} for key in (*required, *types)}
    return ToolSpec(
        name=name,
        description=name.replace("_", " "),
        parameters={"type": "object", "properties": properties, "required": list(required)},
        is_write=is_write,
    )


SPECS = (
    tool("get_parcel", "parcel_id"),
    tool("redirect_parcel", "parcel_id", "address", is_write=True),
    tool("transfer_to_human_agents", "summary", is_write=True),
)


class ScriptedCompletion:
    """Answers by a script, with the forms and failures of a real one."""

    def __init__(self, script, *, check=ALLOWED, native=True):
        self.script, self.check, self.native = script, check, native
        self.asked = []

    async def takes_tools(self, choice):
        return self.native

    async def __call__(self, choice, messages, *, tools=(), retries=0):
        asked = Asked({"model": choice.name, "messages": list(messages), "tools": list(tools)})
        self.asked.append(asked)
        answer = self.script(asked) if self.check is None or not asked.is_check else self.check
        if answer == 400 and tools:
            raise ToolsRefusedError("no tools")
        if isinstance(answer, int):
            raise ModelCallError(f"{choice.name} answered {answer}")
        if isinstance(answer, str):
            return Completed(content=answer, tokens=TOKENS)
        made = tuple(
            proposed(call["function"]["name"], call["function"]["arguments"])
            for call in answer["tool_calls"]
        )
        return Completed(content=answer["content"] or "", calls=made, tokens=TOKENS)

    @property
    def checks(self):
        return [asked for asked in self.asked if asked.is_check]

    @property
    def models(self):
        return [asked.model for asked in self.asked]


class Talk:
    """A conversation with a reasoner: says things to it, and answers its calls."""

    def __init__(self, completion, *, settings=None, session=None, **reasoner):
        self.session = session or Session(
            context_id="c", dialect=Dialect.TAU2, policy_text=POLICY, specs=SPECS
        )
        settings = settings or ReferenceSettings(
            primary=ModelChoice(name="one"), fallback=ModelChoice(name="two")
        )
        self.reasoner = ModelReasoner(settings, completion, **reasoner)

    def user(self, text):
        self.session.entries.append(Entry(role="user", text=text))
        return self

    def agent(self, text):
        self.session.entries.append(Entry(role="agent", text=text))
        return self

    def result(self, reply, text, *, failed=False):
        result = ToolResult(text=text, value=None if failed else text, failed=failed)
        self.session.entries += [
            Entry(role="call", call=reply.call),
            Entry(role="result", call=reply.call, result=result),
        ]
        return self

    async def next(self, **changes):
        incoming = Incoming(context_id="c", message_id="m", text="")
        return await self.reasoner.next(Case(incoming=incoming, session=self.session, **changes))

    @property
    def notes(self):
        return [entry.text for entry in self.session.entries if entry.role == "note"]


@pytest.fixture
def talk():
    """Begins a conversation with a script, or with a completion."""

    def begin(script, *, check=ALLOWED, native=True, **more):
        completion = ScriptedCompletion(script, check=check, native=native)
        begun = Talk(completion, **more)
        begun.completion = completion
        return begun

    return begin


@pytest.fixture
def confirmed(talk):
    """The same where the parcel was read and the user has said yes to the change."""

    async def begin(script, **more):
        begun = talk(script, **more)
        session = begun.session
        read = session.new_call("get_parcel", {"parcel_id": "P-7"})
        begun.user("Redirect P-7 to 5 Mill Lane").result(
            type("Made", (), {"call": read}), '{"status": "in transit"}'
        )
        return begun.agent("P-7 goes to 5 Mill Lane. Yes?").user("yes")

    return begin
