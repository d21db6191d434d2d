from datetime import UTC, datetime

import pytest

from evals.trace import CallType, InteractionStep
from tau_bridge.clock import Runtime
from tau_bridge.recorder import MAX_NAME_CHARS, MAX_TEXT_CHARS, TraceRecorder


class StoppedClock:
    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic_s(self) -> float:
        return 0.0


def recorded(
    *,
    max_text_chars: int = 8,
    request: str | None = "hi",
    response: str | None = None,
    error: str | None = None,
    callee: str = "agent",
    attributes: dict[str, str] | None = None,
) -> InteractionStep:
    runtime = Runtime(clock=StoppedClock(), new_id=lambda: "s1")
    recorder = TraceRecorder("t", runtime=runtime, max_text_chars=max_text_chars)
    step = recorder.begin(
        call_type=CallType.AGENT, caller="us", callee=callee, name=callee, request_text=request
    )
    return step.end(response_text=response, error=error, attributes=attributes)


def test_a_text_of_the_limit_is_kept_whole_and_nothing_is_noted() -> None:
    step = recorded(request="12345678", response="", attributes={"a": "b"})
    assert (step.request_text, step.response_text) == ("12345678", "")
    assert step.additional_attributes == {"a": "b"}


def test_a_longer_text_keeps_its_head_and_its_tail_with_a_mark_and_its_length_noted() -> None:
    step = recorded(request="123456___78", response="abcdef_gh", attributes={"a": "b"})
    assert step.request_text == "123456 [... 3 characters left out ...] 78"
    assert step.response_text == "abcdef [... 1 characters left out ...] gh"
    assert step.additional_attributes == {"a": "b", "request_chars": "11", "response_chars": "9"}


def test_an_error_is_shortened_too() -> None:
    step = recorded(error="no tool " * 1000)
    assert step.error == "no too [... 7992 characters left out ...] l "
    assert step.additional_attributes == {"error_chars": "8000"}


def test_names_and_attributes_that_an_agent_made_long_are_shortened() -> None:
    step = recorded(callee="x" * 100_000, attributes={"context_id": "y" * 100_000})
    for text in (step.callee, step.name, step.additional_attributes["context_id"]):
        assert text is not None
        assert "99500 characters left out" in text
        assert len(text) < MAX_NAME_CHARS + 50


@pytest.mark.parametrize("chars", [MAX_TEXT_CHARS, 4_000_000])
def test_by_default_a_step_stays_small_whatever_was_said(chars: int) -> None:
    text = "x" * chars
    step = recorded(max_text_chars=MAX_TEXT_CHARS, request=text, response=text, error=text)
    assert len(step.model_dump_json()) < 3 * MAX_TEXT_CHARS + 1000
