"""A scenario about a parcel, for the tests of users."""

from tau_bridge.completion import CompletionResult
from tau_bridge.tau2.tasks import parse_task

GREETING = "Hi! How can I help you today?"
OPENING = "You want to cancel the parcel P-1001 that you sent yesterday."
TASK = parse_task(
    {
        "id": "1",
        "user_scenario": {
            "persona": "Impatient.\nTerse.",
            "instructions": {
                "domain": "post",
                "reason_for_call": OPENING,
                "known_info": "You are Ada Byron, customer ada_7.",
                "unknown_info": "You do not remember your email address.",
                "task_instructions": "Do not accept a voucher.",
            },
        },
    }
)


def schema(name, **parameters):
    return {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": kind} for key, kind in parameters.items()},
                "required": list(parameters),
            },
        },
    }


TOOLS = (
    schema("toggle_airplane_mode"),
    schema("get_status_bar"),
    schema("set_mode", mode="string", level="integer"),
)


def result(content=None, *calls):
    return CompletionResult(
        content=content, tool_calls=calls, total_tokens=12, cost=0.5, model="test-model"
    )
