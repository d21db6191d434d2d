"""What becomes of trials whose workers die, with workers that are objects of this process."""

import asyncio

import pytest

from adk_agent.play.executors.worker_pool import (
    ATTEMPTS,
    HostLostError,
    NoRoomError,
    TrialBrokeError,
    WorkerLostError,
    WorkerPool,
)


class Office:
    """Spawns workers, which play as they are told: `play(number of the worker, job)`."""

    def __init__(self, play, *, refuses=()):
        self.spawned = 0
        self.closed = []
        self._play = play
        self._refuses = refuses

    async def spawn(self):
        number = self.spawned
        self.spawned += 1
        await asyncio.sleep(0)
        if number in self._refuses:
            raise WorkerLostError(f"worker {number} did not start")
        return OfficeWorker(self, number)


class OfficeWorker:
    def __init__(self, office, number):
        self._office = office
        self.number = number

    async def play(self, job):
        return await self._office._play(self.number, job)

    async def aclose(self):
        self._office.closed.append(self.number)


async def echo(number, job):
    return job, number


async def test_trials_go_to_whoever_has_the_least_to_do():
    wait = asyncio.Event()

    async def play(number, job):
        await wait.wait()
        return number

    async with WorkerPool(Office(play).spawn, 3) as pool, asyncio.TaskGroup() as group:
        playing = [group.create_task(pool.play(job)) for job in range(9)]
        await asyncio.sleep(0)
        wait.set()
    assert sorted(task.result() for task in playing) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


async def test_what_a_dead_worker_was_playing_is_played_by_others_and_nothing_else():
    begun = []

    async def play(number, job):
        begun.append(job)
        await asyncio.sleep(0)
        if number == 0 and job in ("c", "d"):
            raise WorkerLostError("killed")
        return job

    office = Office(play)
    async with WorkerPool(office.spawn, 1) as pool:
        for job in "ab":
            assert await pool.play(job) == job
        async with asyncio.TaskGroup() as group:
            playing = [group.create_task(pool.play(job)) for job in "cd"]
        assert [task.result() for task in playing] == ["c", "d"]
    assert begun[:4] == list("abcd")
    assert sorted(begun[4:]) == ["c", "d"]
    assert office.spawned == 2  # one for the dead one, though two trials noticed
    assert office.closed == [1]


async def test_a_trial_that_kills_every_worker_is_given_up():
    begun = []

    async def play(number, job):
        begun.append(job)
        if job == "poison":
            raise WorkerLostError("killed")
        return job

    async with WorkerPool(Office(play).spawn, 2) as pool:
        with pytest.raises(WorkerLostError, match="killed"):
            await pool.play("poison")
        assert await pool.play("food") == "food"
    assert begun.count("poison") == ATTEMPTS


def mortal(*, poison, begun):
    """Plays what it is given, once others got their turn; poison ends all that the worker plays."""
    deaths = {}

    async def play(number, job):
        begun.append(job)
        death = deaths.setdefault(number, asyncio.Event())
        if job == poison:
            death.set()
        for _ in range(3):
            await asyncio.sleep(0)
            if death.is_set():
                raise WorkerLostError(f"worker {number} was killed")
        return job

    return play


@pytest.mark.parametrize("size", [1, 2, 3])
async def test_a_trial_that_kills_its_workers_takes_no_other_trial_with_it(size):
    begun = []
    jobs = ["poison", *range(8)]
    async with WorkerPool(Office(mortal(poison="poison", begun=begun)).spawn, size) as pool:
        ends = await asyncio.gather(*map(pool.play, jobs), return_exceptions=True)
    assert ends[1:] == jobs[1:]
    assert isinstance(ends[0], WorkerLostError)
    assert begun.count("poison") == 1 + ATTEMPTS
    assert max(begun.count(job) for job in jobs[1:]) == 2


async def test_who_waits_to_be_played_alone_may_be_cancelled():
    release = asyncio.Event()

    async def play(number, job):
        if job == "slow":
            await release.wait()
        elif number == 0:
            await asyncio.sleep(0)
            raise WorkerLostError("killed")
        return job

    async with WorkerPool(Office(play).spawn, 1) as pool:
        lost = [asyncio.ensure_future(pool.play(job)) for job in "ab"]
        slow = asyncio.ensure_future(pool.play("slow"))
        for _ in range(20):
            await asyncio.sleep(0)
        lost[0].cancel()
        release.set()
        assert (await slow, await lost[1], await pool.play("c")) == ("slow", "b", "c")


async def test_whatever_breaks_the_start_of_a_worker_is_told_as_its_loss(caplog):
    tried = asyncio.Event()

    class Unreachable(Office):
        async def spawn(self):
            worker = await super().spawn()
            if worker.number > 1:
                tried.set()
                raise ConnectionError("the head is gone")
            return worker

    async def play(number, job):
        if number == 0:
            raise WorkerLostError("killed")
        await tried.wait()
        return job

    async with WorkerPool(Unreachable(play).spawn, 2) as pool:
        assert await pool.play("a") == "a"
    assert "the head is gone" in caplog.text
    async with WorkerPool(Unreachable(play).spawn, 3) as pool:
        [warning] = pool.warnings
    assert warning.endswith("a worker could not be started: ConnectionError: the head is gone")


async def test_a_trial_that_breaks_its_worker_not_is_not_begun_again():
    begun = []

    async def play(number, job):
        begun.append(job)
        raise TrialBrokeError("ValueError")

    office = Office(play)
    async with WorkerPool(office.spawn, 1) as pool:
        with pytest.raises(TrialBrokeError):
            await pool.play("a")
    assert (begun, office.spawned) == (["a"], 1)


async def test_workers_that_do_not_start_are_done_without_and_named():
    async with WorkerPool(Office(echo, refuses={1}).spawn, 3) as pool:
        assert pool.warnings == ("1 of 3 workers missing: worker 1 did not start",)
        assert {(await pool.play(job))[1] for job in "abcd"} <= {0, 2}


async def test_a_crew_without_any_worker_does_not_open():
    office = Office(echo, refuses={0, 1})
    with pytest.raises(WorkerLostError, match="did not start"):
        async with WorkerPool(office.spawn, 2):
            pytest.fail("it opened")
    assert office.spawned == 2


async def test_once_no_worker_can_be_replaced_the_rest_fails_at_once():
    async def play(number, job):
        raise WorkerLostError("killed")

    office = Office(play, refuses=range(1, 100))
    async with WorkerPool(office.spawn, 1) as pool:
        for _ in range(3):
            with pytest.raises(WorkerLostError, match="worker 1 did not start"):
                await pool.play("a")
    assert office.spawned == 2


async def test_to_cancel_a_trial_cancels_it_in_its_worker_and_no_other():
    ended = []
    both_begun = asyncio.Event()

    async def play(number, job):
        if job == "b":
            both_begun.set()
        try:
            await asyncio.Event().wait() if job == "a" else await asyncio.sleep(0)
        finally:
            ended.append(job)
        return job

    async with WorkerPool(Office(play).spawn, 1) as pool:
        first = asyncio.ensure_future(pool.play("a"))
        second = asyncio.ensure_future(pool.play("b"))
        await both_begun.wait()
        first.cancel()
        assert await second == "b"
        with pytest.raises(asyncio.CancelledError):
            await first
    assert sorted(ended) == ["a", "b"]


async def test_who_is_cancelled_while_a_worker_starts_does_not_stop_its_start():
    starting = asyncio.Event()

    async def play(number, job):
        if number == 0:
            raise WorkerLostError("killed")
        return job

    class Slow(Office):
        async def spawn(self):
            worker = await super().spawn()
            if self.spawned == 2:
                await starting.wait()
            return worker

    async with WorkerPool(Slow(play).spawn, 1) as pool:
        first, second = (asyncio.ensure_future(pool.play(job)) for job in "ab")
        for _ in range(10):
            await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        starting.set()
        assert await second == "b"


async def test_what_is_still_starting_is_stopped_when_the_crew_closes():
    started, stopped = asyncio.Event(), asyncio.Event()

    class Stuck(Office):
        async def spawn(self):
            if self.spawned == 0:
                return await super().spawn()
            started.set()
            try:
                await asyncio.Event().wait()
            finally:
                stopped.set()

    async def play(number, job):
        raise WorkerLostError("killed")

    office = Stuck(play)
    async with WorkerPool(office.spawn, 1) as pool:
        playing = asyncio.ensure_future(pool.play("a"))
        await started.wait()
        playing.cancel()
    assert stopped.is_set()


class Slow(Office):
    """Spawns two workers at once, and the others when told."""

    def __init__(self, play):
        super().__init__(play)
        self.may_start = asyncio.Event()

    async def spawn(self):
        worker = await super().spawn()
        if worker.number > 1:
            await self.may_start.wait()
        return worker


async def test_nobody_waits_for_a_worker_that_starts_while_another_one_is_ready():
    async def play(number, job):
        if number == 0:
            raise WorkerLostError("killed")
        return number

    async with WorkerPool(Slow(play).spawn, 2) as pool:
        ends = await asyncio.gather(*map(pool.play, range(12)))
    assert ends == [1] * 12


async def test_what_a_lost_machine_was_playing_goes_to_others_together():
    begun = []
    all_are_there = asyncio.Event()

    async def play(number, job):
        if number == 0:
            raise HostLostError("its power failed")
        begun.append(job)
        if len(begun) == 8:
            all_are_there.set()
        await all_are_there.wait()  # for ever, were they played alone
        return job

    async with WorkerPool(Slow(play).spawn, 2) as pool:
        assert await asyncio.gather(*map(pool.play, range(8))) == list(range(8))


async def test_a_trial_that_has_cost_three_machines_is_given_up():
    begun = []

    async def play(number, job):
        begun.append(job)
        raise HostLostError("its power failed")

    async with WorkerPool(Office(play).spawn, 2) as pool:
        with pytest.raises(HostLostError):
            await pool.play("a")
    assert begun == ["a"] * ATTEMPTS


class Full(Office):
    """Has room for two workers, and for no other before it has refused one five times."""

    async def spawn(self):
        worker = await super().spawn()
        if 1 < worker.number < 7:
            raise NoRoomError("no CPU is free")
        return worker


async def test_a_lost_worker_is_replaced_once_there_is_room_for_another_one():
    replaced = asyncio.Event()

    async def play(number, job):
        if number == 0:
            raise WorkerLostError("killed")
        if number == 7:
            replaced.set()
        await replaced.wait()
        return number

    async with WorkerPool(Full(play).spawn, 2) as pool:
        lost, *others = (asyncio.ensure_future(pool.play(job)) for job in range(3))
        while not replaced.is_set():
            await asyncio.sleep(0)
            others.append(asyncio.ensure_future(pool.play("more")))
        await asyncio.gather(lost, *others)
        assert pool.warnings == ()


async def test_without_any_worker_nobody_waits_for_room():
    async def play(number, job):
        raise WorkerLostError("killed")

    office = Full(play)
    async with WorkerPool(office.spawn, 2) as pool:
        with pytest.raises(WorkerLostError, match="no CPU is free"):
            await pool.play("a")
        assert office.spawned == 4
