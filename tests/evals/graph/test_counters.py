"""Requests that are equal but for a counter, and requests whose numbers name what is asked about."""

from datetime import UTC, datetime, timedelta

import pytest

from evals.graph.interactions import Interactions
from evals.graph.repeats import asked_by, repeats_of
from evals.trace import CallType, InteractionStep, Trace

T0 = datetime(2026, 1, 1, tzinfo=UTC)
CALLS = 10


def asking(request, reply="It is in stock.", calls=CALLS, error=None):
    """The calls of one agent to another, worded by functions of their number, from 1."""
    made = request if callable(request) else lambda n: request
    said = reply if callable(reply) else lambda n: reply
    return Interactions.of(
        Trace(
            trace_id="t",
            steps=tuple(
                InteractionStep(
                    step_id=f"s{n}",
                    trace_id="t",
                    call_type=CallType.AGENT,
                    caller="a",
                    callee="b",
                    start_time=T0 + timedelta(seconds=n),
                    end_time=T0 + timedelta(seconds=n + 1),
                    request_text=made(n),
                    response_text=said(n),
                    error=error,
                )
                for n in range(1, calls + 1)
            ),
        )
    )


def duplicates(*args, **more):
    return len(repeats_of(asking(*args, **more)).duplicates)


@pytest.mark.parametrize(
    "request_of",
    [
        lambda n: f"Is the blue lamp in stock? #{n}",
        lambda n: f"Plan the trip #{n}",
        lambda n: f"Is the blue lamp in stock? ({n})",
        lambda n: f"[{n}] Is the blue lamp in stock?",
        lambda n: f"{n}. Is the blue lamp in stock?",
        lambda n: f"#{n}: Is the blue lamp in stock?",
        lambda n: f"Is the blue lamp in stock?\n{n}",
        lambda n: f"Is the blue lamp in stock? (attempt {n} of 50)",
        lambda n: f"Attempt {n}: is the blue lamp in stock?",
        lambda n: f"For the {n + 3}th time: is the blue lamp in stock?",
        lambda n: f"Is the blue lamp in stock? [message {n * 977}]",
        lambda n: f"2026-01-01T12:00:{n:02d}Z Is the blue lamp in stock?",
        lambda n: f"Is the blue lamp in stock? Asked at 12:{n:02d}:{n + 7:02d}.",
        lambda n: f'{{"ask": "blue lamp", "request_id": "9f{n:02x}-4c"}}',
        lambda n: f'{{"ask": "blue lamp", "timestamp": {1767225600 + n}, "retry_count": {n}}}',
    ],
)
def test_a_counter_or_time_in_a_request_does_not_hide_that_it_repeats(request_of):
    assert duplicates(request_of) == CALLS - 1
    assert duplicates(request_of, lambda n: f"The stock was {n * 13}, then {n * 17}.") == 0


@pytest.mark.parametrize(
    "request_of",
    [
        lambda n: f"Cancel order {n}",
        lambda n: f"Cancel order #{n}",
        lambda n: f"Cancel #W{1040 + n}",
        lambda n: f"Cancel #{1040 + n}",
        lambda n: f"Cancel the order: 10{n}",
        lambda n: f'{{"order_id": {n}}}',
        lambda n: f'{{"order_id": "{n:08x}-4c1d"}}',
        lambda n: f"Cancel the flight of 2026-05-{n:02d}",
        lambda n: f"Cancel the appointment at {n}:30",
        lambda n: f"Cancel the appointment at 2026-05-16T{n:02d}:00:00Z",
        lambda n: f"Cancel room ({n})",
        lambda n: f"Cancel the match of round {n} please",
    ],
)
def test_ten_things_are_work_and_no_duplicates_even_where_the_replies_are_equal(request_of):
    assert duplicates(request_of, "Cancelled.") == 0
    assert duplicates(request_of, lambda n: f"Order {n} costs {n * 7} dollars.") == 0


def test_a_reply_that_repeats_the_counter_of_its_request_is_no_other_reply():
    echoed = duplicates(lambda n: f"In stock? #{n}", lambda n: f"Answer to {n}: it is  in stock.")
    assert echoed == CALLS - 1


def test_a_request_that_is_a_number_alone_repeats_nothing():
    assert duplicates(lambda n: f"#{n}", "Noted.") == 0


def test_a_counter_without_any_reply_is_compared_as_it_is():
    assert duplicates(lambda n: f"Is it in stock? #{n}", lambda n: None) == 0
    assert duplicates("Is it in stock? #1", lambda n: None) == CALLS - 1


def test_equal_requests_repeat_each_other_whatever_the_replies():
    assert duplicates("Is it done? #1", lambda n: f"At {n} %.") == CALLS - 1


def test_calls_that_fail_with_the_same_error_are_retries_whatever_number_they_bear():
    repeats = repeats_of(asking(lambda n: f"Buy it. #{n}", lambda n: None, error="no stock"))
    assert (len(repeats.retries), len(repeats.duplicates)) == (CALLS - 1, 0)


def test_the_same_counter_asks_different_agents_for_different_things():
    steps = [
        step.model_copy(update={"callee": callee})
        for step, callee in zip(_steps(4), "bbcc", strict=True)
    ]
    first, second, third, fourth = asked_by(Interactions.of(Trace(trace_id="t", steps=steps)))
    assert first == second != third == fourth


def _steps(count):
    return [
        InteractionStep(
            step_id=f"s{n}",
            trace_id="t",
            call_type=CallType.AGENT,
            caller="a",
            callee="b",
            start_time=T0 + timedelta(seconds=n),
            request_text=f"Is it in stock? #{n}",
            response_text="yes",
        )
        for n in range(1, count + 1)
    ]
