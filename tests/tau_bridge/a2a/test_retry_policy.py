"""What is sent again, when, and that it is the same message."""

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from tau_bridge.a2a.limits import MessengerLimits
from tau_bridge.a2a.messenger import Messenger
from tau_bridge.a2a.retry_policy import RetryPolicy
from tau_bridge.errors import AgentError
from tau_bridge.recorder import TraceRecorder
from tests.fakes import RequestLog, raw_agent, sse

from .conftest import Serving

POLICY = RetryPolicy(max_retries=3, max_wait_s=30.0, usual_wait_s=1.0)
NOON = "Sat, 21 Nov 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("status", "retry_after", "wait_s"),
    [
        (429, "0", 0.0),
        (429, "7", 7.0),
        (503, " 30 ", 30.0),
        (429, "31", None),
        (503, "9" * 5000, None),
        (429, None, 1.0),
        (503, None, 1.0),
        (429, "soon", 1.0),
        (429, "-1", 1.0),
        (429, "1.5", 1.0),
        (429, "²", 1.0),
        (429, "Sat, 21 Nov 2026 12:00:05 GMT", 5.0),
        (429, "Sat, 21 Nov 2026 11:00:00 GMT", 0.0),
        (429, "Sat, 21 Nov 2026 13:00:00 GMT", None),
        (429, "Sat, 99 Nov 2026 13:00:00 GMT", 1.0),
        (500, "0", None),
        (502, "0", 0.0),
        (504, "0", 0.0),
        (408, "0", None),
        (200, "0", None),
    ],
)
def test_the_wait_is_what_the_agent_asks_for_within_bounds(
    status: int, retry_after: str | None, wait_s: float | None
) -> None:
    headers = httpx.Headers({"Date": NOON})
    if retry_after is not None:
        headers = httpx.Headers([(b"Date", NOON.encode()), (b"Retry-After", retry_after.encode())])
    assert POLICY.wait_s(status, headers, retries=0, waited_s=0.0) == wait_s


@pytest.mark.parametrize(
    ("retries", "waited_s", "is_waited"),
    [(0, 0.0, True), (2, 20.0, True), (3, 0.0, False), (1, 20.1, False)],
)
def test_neither_repeats_nor_waits_go_on_for_ever(
    retries: int, waited_s: float, is_waited: bool
) -> None:
    wait_s = POLICY.wait_s(429, {"retry-after": "10"}, retries=retries, waited_s=waited_s)
    assert (wait_s is not None) == is_waited


def test_a_date_without_the_answers_own_date_is_no_time() -> None:
    assert POLICY.wait_s(429, {"retry-after": NOON}, retries=0, waited_s=0.0) == 1.0


class Busy:
    """Turns messages away with these statuses, and then answers every one."""

    def __init__(self, *statuses: int, retry_after: str = "5") -> None:
        left = iter(statuses)

        async def answer(_: Request) -> Response:
            status = next(left, None)
            if status is None:
                text = {"message": {"messageId": "m", "parts": [{"text": "hi"}]}}
                return Response(sse(text), media_type="text/event-stream")
            return Response(status_code=status, headers={"retry-after": retry_after})

        self.log = RequestLog(raw_agent(answer))


class Sleeper:
    """Waits for nothing and keeps for how long it should have."""

    def __init__(self) -> None:
        self.slept_s: list[float] = []

    async def __call__(self, wait_s: float) -> None:
        self.slept_s.append(wait_s)


async def test_a_message_that_was_turned_away_is_sent_again_as_it_was(
    serving: Serving, recorder: TraceRecorder
) -> None:
    agent, sleep = Busy(429, 503), Sleeper()
    messenger = Messenger(sleep=sleep)
    reply = await messenger.conversation(serving(agent.log), recorder=recorder).send("hello")
    await messenger.aclose()
    assert reply.text == "hi"
    assert sleep.slept_s == [5.0, 5.0]
    bodies = [post.body for post in agent.log.posts]
    assert len(bodies) == 3
    assert len(set(bodies)) == 1
    (step,) = recorder.trace().steps
    assert step.additional_attributes["retries"] == "2"


@pytest.mark.parametrize(
    ("statuses", "retry_after", "slept_s", "posts"),
    [
        ((429,) * 9, "5", [5.0] * 3, 4),
        ((429,) * 9, "12", [12.0] * 2, 3),
        ((503,), "31", [], 1),
        ((502,) * 9, "0", [0.0] * 3, 4),
        ((500,), "0", [], 1),
        ((504,) * 9, "0", [0.0] * 3, 4),
    ],
)
async def test_an_agent_that_stays_busy_is_given_up(
    serving: Serving,
    recorder: TraceRecorder,
    statuses: tuple[int, ...],
    retry_after: str,
    slept_s: list[float],
    posts: int,
) -> None:
    agent, sleep = Busy(*statuses, retry_after=retry_after), Sleeper()
    messenger = Messenger(sleep=sleep)
    with pytest.raises(AgentError, match=f"HTTP {statuses[0]}"):
        await messenger.conversation(serving(agent.log), recorder=recorder).send("hello")
    await messenger.aclose()
    assert (sleep.slept_s, len(agent.log.posts)) == (slept_s, posts)


async def test_waiting_counts_towards_the_time_of_the_turn(
    serving: Serving, recorder: TraceRecorder
) -> None:
    agent = Busy(*[429] * 9, retry_after="20")
    messenger = Messenger(limits=MessengerLimits(timeout_s=0.3, settle_s=0.01))
    with pytest.raises(AgentError, match=r"within 0\.3 s"):
        await messenger.conversation(serving(agent.log), recorder=recorder).send("hello")
    await messenger.aclose()
    assert len(agent.log.posts) == 1


async def test_a_card_is_asked_for_again_too(serving: Serving) -> None:
    agent = Busy().log
    left = [Response(status_code=503, headers={"retry-after": "0"})]

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = left.pop() if left and scope["type"] == "http" else agent
        await answer(scope, receive, send)

    messenger = Messenger()
    assert (await messenger.card(serving(app))).name == "scripted"
    await messenger.aclose()
    assert left == []
