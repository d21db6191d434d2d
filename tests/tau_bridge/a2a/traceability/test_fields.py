"""Single values of a report: kinds of call and times."""

from datetime import timedelta, timezone

import pytest

from evals.trace import CallType
from tests.tau_bridge.a2a.traceability.reports import NOON, agent, only


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("AGENT", CallType.AGENT),
        ("agent", CallType.AGENT),
        (1, CallType.AGENT),
        ("2", CallType.TOOL),
        (2.0, CallType.TOOL),
        ("CallTypeEnum.HOST", CallType.HOST),
        ("CALL_TYPE_TOOL", CallType.TOOL),
    ],
)
def test_the_call_type_is_read_in_every_spelling(written, kind):
    assert only({"step_id": "1", "call_type": written, "name": "x"}).call_type is kind


@pytest.mark.parametrize(
    "written",
    [1767268800, 1767268800.0, "1767268800", 1767268800_000, 1767268800_000_000_000, NOON,
     NOON.astimezone(timezone(timedelta(hours=-5))).isoformat()],
)  # fmt: skip
def test_times_are_read_in_every_unit(written):
    assert only(agent("b", start_time=written)).start_time == NOON
