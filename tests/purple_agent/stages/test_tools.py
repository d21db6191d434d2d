"""Stage 6: a conversation gets its tools."""

import json

import pytest

from purple_agent import wire
from purple_agent.case import Dialect
from purple_agent.errors import ToolsUnavailableError
from purple_agent.stages.tools import ToolsStage
from purple_agent.toolbox.failures import CallFailure, Cause, Code, EndpointError
from purple_agent.toolbox.opening import Opened
from purple_agent.toolbox.specs import read_listing
from tests.purple_agent.toolbox.servers import called, case_of, described

OLD = described("get_order", order_id="string", required=("order_id",))
NEW = described("get_order", orderId="string", required=("orderId",))


class Shelf:
    """Tools that count how often they are opened, and can change."""

    def __init__(self, *tools, refusal=None, notes=()):
        self.tools = list(tools)
        self.refusal = refusal
        self.notes = notes
        self.opened = []
        self.calls = []

    async def open(self, endpoint, session_id):
        self.opened.append((endpoint, session_id))
        if self.refusal:
            raise self.refusal
        return Opened(tools=self, specs=await self.specs(), notes=self.notes)

    async def specs(self):
        return read_listing(self.tools).specs

    async def call(self, call):
        self.calls.append(call.arguments)
        return CallFailure(text="unknown parameter", cause=Cause.TOOL)

    async def aclose(self):
        self.tools = []


def at(**metadata):
    return case_of(tools_endpoint="http://localhost:1", **metadata)


async def test_tools_are_opened_once_and_pinned():
    shelf = Shelf(OLD)
    stage = ToolsStage(shelf.open)
    case = await stage(at(session_id="S7"))
    again = await stage(case)
    assert shelf.opened == [("http://localhost:1", "S7")]
    assert [spec.name for spec in again.session.specs] == ["get_order"]
    assert again.session.tools is case.session.tools is not None
    assert (again.flags, again.session.entries) == ((), [])


@pytest.mark.parametrize(
    ("given", "known_as"),
    [({"session_id": 7.0}, "7"), ({"session_id": "x" * 300}, "x" * 200)]
    + [({"session_id": odd}, "c1") for odd in (None, "", True, 1.5, ["S"], {"a": 1})],
)
async def test_the_tools_know_the_conversation_by_the_callers_id_or_its_own(given, known_as):
    shelf = Shelf(OLD)
    await ToolsStage(shelf.open)(at(**given))
    assert shelf.opened == [("http://localhost:1", known_as)]


async def test_another_endpoint_later_does_not_replace_the_first():
    shelf = Shelf(OLD)
    stage = ToolsStage(shelf.open)
    first = await stage(at())
    moved = case_of(tools_endpoint="http://localhost:2")
    later = await stage(type(moved)(incoming=moved.incoming, session=first.session))
    assert later.flags == ("tools:pinned",)
    assert len(shelf.opened) == 1


@pytest.mark.parametrize(
    ("refusal", "flag"),
    [
        (EndpointError(Code.FORBIDDEN, "not there"), "tools:forbidden"),
        (EndpointError(Code.TIMEOUT, "not there"), "tools:timeout"),
        (ToolsUnavailableError("not there"), "tools:unavailable"),
    ],
)
async def test_without_tools_the_case_goes_on_with_a_flag_and_a_note(refusal, flag):
    case = await ToolsStage(Shelf(refusal=refusal).open)(at())
    assert case.flags == (flag,)
    assert case.session.tools is None
    assert [(entry.role, entry.text) for entry in case.session.entries] == [
        ("note", "There are no tools: not there.")
    ]


async def test_an_endpoint_that_is_no_text_is_refused_and_none_at_all_is_fine():
    stage = ToolsStage(Shelf().open)
    assert (await stage(case_of(tools_endpoint=[1]))).flags == ("tools:address",)
    assert (await stage(case_of(tools_endpoint=""))).flags == ()
    assert (await stage(case_of())).flags == ()


async def test_an_empty_list_is_flagged_and_what_was_left_out_is_noted():
    case = await ToolsStage(Shelf(notes=("Tool 1 was left out.",)).open)(at())
    assert case.flags == ("tools:none",)
    assert case.session.entries[0].text == "Tool 1 was left out."


async def test_the_session_sees_tools_that_have_changed():
    shelf = Shelf(OLD)
    session = (await ToolsStage(shelf.open)(at())).session
    shelf.tools = [NEW]
    await session.tools.call(called("get_order", order_id="O1"))
    assert shelf.calls == [{"order_id": "O1"}, {"orderId": "O1"}]
    assert list(session.spec("get_order").parameters["properties"]) == ["orderId"]


FIRST = "\n".join(
    [
        "Be kind.",
        wire.TOOLS_LINE,
        json.dumps(
            [
                {"type": "function", "function": {"name": "get_user", "parameters": {}}},
                {"type": "function", "function": {"name": "bad name"}},
            ]
        ),
        wire.USER_LINE,
        "Hello",
    ]
)


async def test_on_the_wire_the_first_message_describes_the_tools():
    stage = ToolsStage(Shelf().open)
    case = await stage(case_of(dialect=Dialect.TAU2, text=FIRST))
    assert [(spec.name, spec.is_write) for spec in case.session.specs] == [("get_user", False)]
    assert case.session.tools is None
    assert len(case.session.entries) == 1
    assert await stage(case) is case


async def test_on_the_wire_a_message_without_tools_passes():
    case = await ToolsStage(Shelf().open)(case_of(dialect=Dialect.TAU2, text="Hi"))
    assert (case.session.specs, case.flags) == ((), ())
    none = f"Be kind.\n{wire.USER_LINE}\nHi"
    assert (await ToolsStage(Shelf().open)(case_of(dialect=Dialect.TAU2, text=none))).flags == (
        "tools:none",
    )
