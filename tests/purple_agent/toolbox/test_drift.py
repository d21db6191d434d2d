"""Calls that are repaired on their way, against a server whose tools have changed."""

import pytest
from starlette.responses import JSONResponse

from purple_agent.case import ToolResult
from purple_agent.errors import ToolsUnavailableError
from purple_agent.toolbox.drift import MAX_LISTINGS, RepairingTools
from purple_agent.toolbox.failures import CallFailure, Cause
from purple_agent.toolbox.specs import read_listing
from tests.purple_agent.toolbox.servers import called, described

OLD_READ = described("get_order", order_id="string", required=("order_id",))
NEW_READ = described("fetch_order", order_number="string", required=("order_number",))
OLD_WRITE = described("cancel_order", order_id="string", why="string", required=("order_id",))
NEW_WRITE = described("cancel_order", orderId="string", why="string", required=("orderId",))


@pytest.fixture
async def repairing(plain, plain_tools):
    """Makes tools that know the plain server's as they were listed a moment ago."""
    seen = []

    async def make(*listed):
        plain.tools = list(listed)
        tools = plain_tools()
        specs = await tools.specs()
        repairing = RepairingTools(tools, specs=specs, relisted=seen.append)
        repairing.seen = seen
        return repairing

    return make


async def test_a_slip_is_repaired_before_it_is_sent(plain, repairing):
    tools = await repairing(OLD_READ)
    result = await tools.call(called("get_ordr", orderId="O1"))
    assert result.value == {"order_id": "O1"}
    assert plain.received == 1
    assert tools.seen == []


async def test_secrets_in_what_is_read_are_withheld_and_those_that_a_write_gives_are_told(
    plain, repairing
):
    tools = await repairing(described("get_user"), described("reset_login"))
    plain.work |= dict.fromkeys(("get_user", "reset_login"), lambda _: {"password": "walnut"})
    assert (await tools.call(called("get_user"))).value == {"password": "[withheld]"}
    assert (await tools.call(called("reset_login"))).value == {"password": "walnut"}


async def test_a_read_follows_a_tool_that_got_other_names(plain, repairing):
    tools = await repairing(OLD_READ)
    plain.tools = [described("fetch_order", orderId="string", required=("orderId",))]
    result = await tools.call(called("get_order", order_id="O1"))
    assert result.value == {"orderId": "O1"}
    assert [[spec.name for spec in specs] for specs in tools.seen] == [["fetch_order"]]


async def test_a_write_follows_when_the_complaint_proves_that_nothing_was_done(plain, repairing):
    tools = await repairing(OLD_WRITE)
    plain.tools = [NEW_WRITE]
    result = await tools.call(called("cancel_order", order_id="O1", why="late"))
    assert result.value == {"orderId": "O1", "why": "late"}
    assert plain.carried_out == [("cancel_order", {"orderId": "O1", "why": "late"})]


@pytest.mark.parametrize(
    "complaint",
    [
        "cancelled, but the mail could not be sent: missing required parameter 'mail'",
        "order already saved; unknown parameter 'order_id'",
        "the warehouse is closed",
        "x" * 200 + " unknown parameter 'order_id'",
    ],
)
async def test_a_write_is_not_made_again_when_something_may_have_been_done(
    plain, repairing, complaint
):
    tools = await repairing(OLD_WRITE)
    plain.work["cancel_order"] = lambda _: {"error": complaint}
    result = await tools.call(called("cancel_order", order_id="O1"))
    assert result.failed
    assert plain.received == 1


async def test_a_write_is_not_made_again_when_the_new_listing_finds_nothing_wrong(plain, repairing):
    tools = await repairing(OLD_WRITE)
    plain.work["cancel_order"] = lambda _: {"error": "unknown parameter 'order_id'"}
    assert (await tools.call(called("cancel_order", order_id="O1"))).failed
    assert plain.received == 1


@pytest.mark.parametrize(
    ("complaint", "times"),
    [("1 validation error for Receipt", 1), ("unknown parameter 'memo_text'", 2)],
)
async def test_a_write_with_a_gone_optional_parameter_is_made_again_only_if_that_is_the_complaint(
    plain, repairing, complaint, times
):
    tools = await repairing(described("save_note", memo_text="string"))
    plain.tools = [described("save_note", memoText="string")]
    plain.answer = lambda _: JSONResponse({"error": complaint})
    assert (await tools.call(called("save_note", memo_text="Hi"))).text == complaint
    assert plain.received == times


async def test_a_call_that_cannot_be_repaired_is_not_sent(plain, repairing):
    tools = await repairing(OLD_READ)
    result = await tools.call(called("get_order", colour="red"))
    assert result.text == ("the call was not made: 'get_order' needs the parameter 'order_id'")
    assert result.cause is Cause.UNSENT
    assert plain.received == 0


async def test_a_tool_that_is_new_is_found_by_listing_again(plain, repairing):
    tools = await repairing(OLD_READ)
    plain.tools = [OLD_READ, described("get_weather", city="string")]
    assert (await tools.call(called("get_weather", city="Bonn"))).value == {"city": "Bonn"}


async def test_a_read_that_has_become_a_write_is_not_made_unasked(plain, repairing):
    tools = await repairing(OLD_READ)
    changed = described("get_order", orderId="string", required=("orderId",))
    plain.tools = [{**changed, "annotations": {"readOnlyHint": False}}]
    result = await tools.call(called("get_order", order_id="O1"))
    assert result.text == (
        "the call was not made: 'get_order' may change something: call it again as a write"
    )
    assert plain.carried_out == []


async def test_listing_again_has_an_end(plain, repairing):
    tools = await repairing(OLD_READ)
    for _ in range(MAX_LISTINGS + 5):
        assert (await tools.call(called("get_moon"))).failed
    assert len(tools.seen) == MAX_LISTINGS


class Unlisted:
    """A provider that fails every call the same way and cannot list its tools again."""

    def __init__(self, result):
        self.result = result
        self.calls = 0
        self.closed = False

    async def specs(self):
        raise ToolsUnavailableError("gone")

    async def call(self, call):
        self.calls += 1
        return self.result

    async def aclose(self):
        self.closed = True


@pytest.mark.parametrize(
    "result",
    [
        ToolResult(text="unknown parameter 'order_id'", failed=True),
        CallFailure(text="unknown parameter 'order_id'", cause=Cause.WAY),
        CallFailure(text="unknown parameter 'order_id'", cause=Cause.TOOL),
    ],
)
async def test_where_the_cause_or_the_tools_are_not_known_a_failure_stands(result):
    provider = Unlisted(result)
    tools = RepairingTools(provider, specs=read_listing([OLD_READ]).specs)
    assert await tools.call(called("get_order", order_id="O1")) is result
    assert provider.calls == 1
    await tools.aclose()
    assert provider.closed


async def test_a_parameter_that_got_an_unlike_name_is_not_guessed(plain, repairing):
    tools = await repairing(OLD_READ)
    plain.tools = [NEW_READ]
    result = await tools.call(called("get_order", order_id="O1"))
    assert result.text == "unknown tool: get_order"
    again = await tools.call(called("get_order", order_id="O1"))
    assert again.text == "the call was not made: 'fetch_order' needs the parameter 'order_number'"
    assert plain.carried_out == []


QUERY = described("query_expenses", where="object", required=("where",))
CHANGE = described("update_expenses", where="object", required=("where",))


def knows_columns(arguments):
    unknown = next((each for each in arguments["where"] if each not in {"employee_id", "year"}), "")
    if unknown:
        return {"error": f"no such column: {unknown}. Columns: employee_id, year"}
    return {"rows": [arguments["where"]]}


async def test_a_read_by_columns_that_were_renamed_is_made_by_those_that_there_are(
    plain, repairing
):
    tools = await repairing(QUERY)
    plain.work["query_expenses"] = knows_columns
    result = await tools.call(called("query_expenses", where={"employe_id": "E1", "years": 26}))
    assert result.value == {"rows": [{"employee_id": "E1", "year": 26}]}
    assert plain.received == 3


async def test_a_column_that_is_like_none_is_not_guessed(plain, repairing):
    tools = await repairing(QUERY)
    plain.work["query_expenses"] = knows_columns
    result = await tools.call(called("query_expenses", where={"colour": "red"}))
    assert result.failed
    assert plain.received == 1


async def test_a_write_by_a_wrong_column_is_not_made_again(plain, repairing):
    tools = await repairing(CHANGE)
    plain.work["update_expenses"] = knows_columns
    assert (await tools.call(called("update_expenses", where={"employe_id": "E1"}))).failed
    assert plain.received == 1
