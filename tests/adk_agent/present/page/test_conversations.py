"""The conversation of a trial as the page tells it."""

from adk_agent.present.page.conversations import trial_json
from evals.diagnosis import CallDifference, Diagnosis, Divergence
from tests.adk_agent.present.page.kept_run import OF_FORM, record, row, writes


def test_replies_without_a_call_are_shown_beside_what_should_have_been_sent():
    lost = row("http://a.test", "one", reward=0.0, diagnosis=OF_FORM)
    assert trial_json(record(lost), writes)["why"]["form"] == {
        "without": 2,
        "replies": 3,
        "example": "<b>Sure!</b>",
        "expected": ('{"name": "get_users", "arguments": {}}',),
    }


def test_a_conversation_tells_calls_results_writes_and_where_it_left_the_gold_path():
    made, due = {"title": "A", "user_id": "u"}, {"title": "B", "user_id": "u"}
    diagnosis = Diagnosis(
        kind="wrong_write",
        side="agent",
        summary="One argument differs.",
        departure=Divergence(message=1, call="create_task"),
        calls=(
            CallDifference(
                how="differs",
                name="create_task",
                arguments=made,
                expected=due,
                differing=("title",),
                message=1,
            ),
            CallDifference(how="missing", name="get_users", expected={}),
        ),
    )
    lost = row("http://a.test", "one", reward=0.0, diagnosis=diagnosis)
    messages = (
        {"role": "user", "content": "Please."},
        {"role": "assistant", "tool_calls": [{"id": "", "name": "create_task", "arguments": made}]},
        {"role": "tool", "id": "", "content": "no", "error": True},
        {
            "role": "assistant",
            "content": "Both.",
            "tool_calls": [
                {"id": "", "name": "get_users", "arguments": {"n": 1}},
                {"id": "", "name": "get_users", "arguments": {}},
            ],
        },
        {"role": "tool", "id": "", "content": "first", "error": False},
    )
    told = trial_json(record(lost, messages=messages), writes)
    asked, wrote, said, first, second = told["items"]
    assert asked == {"who": "user", "text": "Please."}
    assert (wrote["writes"], wrote["error"], wrote["result"]) == (True, True, "no")
    assert (wrote["gold"], wrote["departs"]) == ("differs", True)
    assert (wrote["differing"], dict(wrote["expected"])["title"]) == (["title"], "B")
    assert said == {"who": "assistant", "text": "Both."}
    assert (first["result"], first["writes"], second["result"]) == ("first", False, None)
    assert [call["name"] for call in told["missing"]] == ["get_users"]
