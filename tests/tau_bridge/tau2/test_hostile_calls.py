"""Whatever an agent sends: a world answers, and scoring comes to a verdict."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tau_bridge.messages import AssistantMessage, ToolCall, ToolMessage, UserMessage
from tau_bridge.tau2.environment import Environment
from tau_bridge.tau2.replay import new_world
from tau_bridge.tau2.scoring import score_components
from tau_bridge.tau2.tasks import parse_task

TASK = parse_task(
    {
        "id": "t",
        "user_scenario": {"instructions": "Do it."},
        "evaluation_criteria": {"actions": [], "communicate_info": ["never said"]},
    }
)
# Keys that exist, so that calls get past the look-ups.
KNOWN = [
    *("4WQ150", "HAT001", "2024-05-15", "economy", "one_way", "yes"),
    *("#W2378156", "yusuf_rossi_9620", "credit_card_9513926", "no longer needed"),
    *("C1001", "L1001", "B1002", "3g_only", "messaging", "sms"),
    *("user_1", "task_1", "notif_1", "pending", "__class__", ""),
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(KNOWN)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def calls_of(domain):
    """A strategy for calls of the domain's tools with any JSON for arguments."""

    def call(schema, requestor):
        function = schema["function"]
        given_keys = dict.fromkeys(function["parameters"].get("properties", {}), VALUES)
        arguments = st.fixed_dictionaries(given_keys) | st.dictionaries(
            st.sampled_from([*given_keys, "self", "requestor", "x"]), VALUES, max_size=4
        )
        return st.builds(
            ToolCall,
            id=st.just("c"),
            name=st.just(function["name"]),
            arguments=arguments,
            requestor=st.just(requestor),
        )

    sides = ((domain.agent_schemas, "assistant"), (domain.user_schemas, "user"))
    return st.one_of([call(schema, who) for schemas, who in sides for schema in schemas])


@pytest.mark.parametrize("name", ["airline", "retail", "telecom", "mock"])
def test_any_call_gets_a_result_and_any_conversation_a_verdict(request, name):
    domain = request.getfixturevalue(name)

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(calls_of(domain), min_size=1, max_size=4))
    def holds(calls):
        world = new_world(domain, TASK)
        messages = []
        for call in calls:
            speaker = AssistantMessage if call.requestor == "assistant" else UserMessage
            result = world.respond(call)
            assert isinstance(result, ToolMessage)
            assert isinstance(result.content, str)
            messages += [speaker(tool_calls=(call,)), result]
        scored = score_components(domain, TASK, messages, termination="user_stop", lenient=False)
        values = {component.name: component.outcome for component in scored.components}
        # Strict: repeating the calls gave every result again, letter for letter.
        assert values["DB"].status == "scored"
        unchanged = world.differences(Environment(domain)) == ()
        assert values["DB"].value == float(unchanged)

    holds()
