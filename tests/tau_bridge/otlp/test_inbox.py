import asyncio

from tau_bridge.otlp.inbox import FIRST_WAIT_S, InboxLimits, SpanInbox

from .export import TRACE, raw, span


def take(inbox, *spans):
    return dict(inbox.take([raw(each) for each in spans]))


async def test_spans_go_to_their_trial_though_several_are_on():
    inbox = SpanInbox()
    async with inbox.run(grace_s=0) as run:
        with run.trial("one") as one, run.trial("two") as two:
            take(inbox, span("a", trace="two"), span("b", trace="one"), span("c", trace="two"))
        assert [len(one.spans), len(two.spans)] == [1, 2]
        assert run.warnings() == []


async def test_what_comes_after_its_trial_is_counted_for_its_run_alone():
    inbox = SpanInbox()
    async with inbox.run(grace_s=0) as run, inbox.run(grace_s=0) as other:
        with run.trial(TRACE) as trial:
            pass
        assert take(inbox, span("a")) == {"came after their trial": 1}
        take(inbox, span("b", trace="of nobody"))
    assert trial.spans == {}
    told = "spans received over OTLP and not used: 1 belonged to no trial"
    lost = "; no span joined a trial: does the agent's HTTP instrumentation continue traceparent? "
    late = (
        "; spans of trials came, but all of them too late: wait longer than 0 s with --otlp-grace"
    )
    [warning], [others] = run.warnings(), other.warnings()
    assert warning.startswith(f"{told}, 1 came after their trial{late}")
    assert others.startswith(f"{told}{lost}")


async def test_spans_of_no_trial_are_called_usual_where_others_joined_one():
    inbox = SpanInbox()
    async with inbox.run(grace_s=0) as run:
        with run.trial(TRACE):
            take(inbox, span("a"), span("b", trace="of nobody"))
    assert run.warnings() == [
        "spans received over OTLP and not used: 1 belonged to no trial; "
        "spans of no trial are usual, because libraries begin some outside of any request"
    ]


async def test_a_span_that_is_sent_again_counts_once():
    inbox = SpanInbox()
    async with inbox.run(grace_s=0) as run:
        with run.trial(TRACE) as trial:
            assert take(inbox, span("a"), span("a")) == {}
    assert len(trial.spans) == 1


async def test_a_trial_keeps_no_more_than_its_limits():
    inbox = SpanInbox(InboxLimits(max_spans=2))
    async with inbox.run(grace_s=0) as run:
        with run.trial(TRACE) as trial:
            refused = take(inbox, span("a"), span("b"), span("c"))
    assert (len(trial.spans), trial.left_out) == (2, 1)
    assert refused == {"were more than a trial may have": 1}


async def test_the_room_of_a_trial_is_free_once_it_ended():
    inbox = SpanInbox(InboxLimits(max_bytes=raw(span("a")).size))
    async with inbox.run(grace_s=0) as run:
        for _ in range(3):
            with run.trial(TRACE) as trial:
                take(inbox, span("a"))
                assert len(trial.spans) == 1


async def test_it_waits_as_long_as_it_is_told_to():
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    inbox = SpanInbox()
    async with inbox.run(grace_s=4, sleep=sleep) as run:
        with run.trial(TRACE):
            take(inbox, span("a"))
        await run.wait()
    assert waited == [4]


async def test_once_it_waits_longer_where_no_span_came_yet():
    """The exporter of an agent that was started first tries again after some seconds."""
    waited, inbox = [], SpanInbox()

    async def sleep(seconds):
        waited.append(seconds)
        if len(waited) == 4:
            take(inbox, span("a"))

    async with inbox.run(grace_s=2, sleep=sleep) as run:
        with run.trial(TRACE) as trial:
            await run.wait()
        assert len(trial.spans) == 1
        assert waited == [2, 1, 1, 1, 2]
        await run.wait()
    assert waited[5:] == [2]


async def test_a_run_to_which_no_span_came_asks_whether_any_is_sent():
    inbox, waited = SpanInbox(), []

    async def sleep(seconds):
        waited.append(seconds)

    async with inbox.run(grace_s=2, sleep=sleep) as run:
        for _ in range(2):
            with run.trial(TRACE):
                await run.wait()
    assert waited == [2, *[1] * FIRST_WAIT_S, 2]
    [told] = run.warnings()
    assert told.startswith("no span of any trial came over OTLP: does the agent export")


async def test_spans_that_were_only_late_are_not_called_none():
    inbox = SpanInbox()
    async with inbox.run(grace_s=6) as run:
        with run.trial(TRACE):
            pass
        take(inbox, span("a"))
    assert run.warnings() == [
        "spans received over OTLP and not used: 1 came after their trial; spans of trials came, but "
        "all of them too late: wait longer than 6 s with --otlp-grace, or have the agent export "
        "sooner (OTEL_BSP_SCHEDULE_DELAY)"
    ]


async def test_spans_that_were_refused_are_not_called_none():
    inbox = SpanInbox(InboxLimits(max_trial_bytes=1))
    async with inbox.run(grace_s=0) as run, inbox.run(grace_s=0) as other:
        with run.trial(TRACE), other.trial("other"):
            take(inbox, span("a"))
        inbox.refuse()
    refused = "requests over OTLP that were refused, with all of their spans: 1"
    assert run.warnings() == [
        "spans received over OTLP and not used: 1 were more than a trial may have",
        refused,
    ]
    assert other.warnings() == [refused]


async def ticks(seconds):
    """Let all tasks take one step for each second, so that they keep the same time."""
    for _ in range(int(seconds)):
        await asyncio.sleep(0)


async def test_trials_that_end_during_the_first_wait_wait_along():
    """The exporter keeps the spans of all of them back until it tries again."""
    inbox, found = SpanInbox(), {}

    async def play(run, name, length):
        with run.trial(name) as trial:
            await ticks(length)
            await run.wait()
        found[name] = len(trial.spans)

    async def export():
        await ticks(12)
        take(inbox, *(span(name, trace=name) for name in ("one", "two", "three")))

    async with inbox.run(grace_s=2, sleep=ticks) as run, asyncio.TaskGroup() as group:
        for name, length in (("one", 0), ("two", 0), ("three", 5)):
            group.create_task(play(run, name, length))
        group.create_task(export())
    assert found == {"one": 1, "two": 1, "three": 1}
    assert run.warnings() == []


async def test_trials_that_wait_along_wait_no_longer_than_the_first():
    inbox, ended = SpanInbox(), {}

    async def play(run, name, length):
        with run.trial(name):
            await ticks(length)
            await run.wait()
        ended[name] = now[0]

    now = [0]

    async def clock():
        while len(ended) < 2:
            await ticks(1)
            now[0] += 1

    async with inbox.run(grace_s=2, sleep=ticks) as run, asyncio.TaskGroup() as group:
        group.create_task(clock())
        group.create_task(play(run, "one", 0))
        group.create_task(play(run, "two", 10))
    assert ended["one"] >= 2 + FIRST_WAIT_S
    assert ended["two"] - ended["one"] <= 1
