"""Reports in short, for the tests of this folder."""

from datetime import UTC, datetime

from tau_bridge.a2a.traceability import read_response_trace

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def read(*steps, reporter="lead", **options):
    return read_response_trace({"trace_id": "t", "steps": [*steps]}, reporter=reporter, **options)


def only(*steps, **options):
    (step,) = read(*steps, **options).steps
    return step


def agent(name, **fields):
    return {
        "step_id": fields.pop("id", name),
        "call_type": "AGENT",
        "step_action": {"agent_invocation": {"agent_name": name, **fields.pop("action", {})}},
        **fields,
    }
